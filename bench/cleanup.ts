// Undoes everything once when the benchmark ends for any reason, the newest first.

type Undo = () => void | Promise<void>;

const undos = new Set<Undo>();

/** Returns a function that undoes it now, and only once. A function that is registered again becomes the newest. */
export function onEnd(undo: Undo): () => Promise<void> {
  undos.delete(undo);
  undos.add(undo);
  return async () => {
    if (undos.delete(undo)) await undo();
  };
}

/** A failing step is reported and does not prevent the others. */
export async function cleanUp(): Promise<void> {
  for (;;) {
    const undo = [...undos].at(-1);
    if (undo === undefined) return;
    undos.delete(undo);
    try {
      await undo();
    } catch (error) {
      process.stderr.write(`bench: while cleaning up: ${(error as Error).message}\n`);
    }
  }
}
