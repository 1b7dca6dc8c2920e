// What must be undone when the benchmark ends, however it ends: newest first, once.

type Undo = () => void | Promise<void>;

const undos = new Set<Undo>();

/** Gives back a call that undoes it now, and only once. */
export function onEnd(undo: Undo): () => Promise<void> {
  undos.add(undo);
  return async () => {
    if (undos.delete(undo)) await undo();
  };
}

/** A step that fails is told and does not keep the others from running. */
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
