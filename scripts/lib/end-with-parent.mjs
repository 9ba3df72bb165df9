// Loaded into programs that are not ours (node --import): ends them when the launcher is gone.
const launcher = Number(process.env.HELM_LAUNCHER_PID);

if (launcher > 1) {
  const timer = setInterval(() => {
    try {
      process.kill(launcher, 0);
    } catch (error) {
      if (error.code !== "ESRCH") return;
      clearInterval(timer);
      // As if it had been asked, so that it ends its own children; not for ever.
      process.kill(process.pid, "SIGTERM");
      setTimeout(() => process.exit(1), 5_000).unref();
    }
  }, 500);
  timer.unref();
}
