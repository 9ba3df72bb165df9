// Loaded into programs that are not ours (node --import): ends them when the launcher is gone.
const parent = Number(process.env.HELM_PARENT_PID);

if (parent > 1) {
  setInterval(() => {
    try {
      process.kill(parent, 0);
    } catch (error) {
      if (error.code === "ESRCH") process.exit(0);
    }
  }, 500).unref();
}
