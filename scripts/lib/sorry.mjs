/** A failure whose message is all the user needs: printed without a stack. */
export class Sorry extends Error {
  name = "Sorry";
}

/** Runs a script's main function; one clear sentence for a Sorry, the whole story for a bug. */
export async function main(work) {
  try {
    await work();
  } catch (error) {
    console.error(error instanceof Sorry ? `\n${error.message}` : error);
    process.exitCode = 1;
  }
}
