// Undo and redo of edits. Typing in one field is one step.

export interface UndoStack<T> {
  readonly past: readonly T[];
  readonly future: readonly T[];
  /** Subject of the last step. The next edit of the same subject is part of it. */
  readonly last: string | undefined;
}

const MOST_STEPS = 200;

export const NO_STEPS = { past: [], future: [], last: undefined } as const;

export function step<T>(stack: UndoStack<T>, before: T, about: string | undefined): UndoStack<T> {
  const isSame = about !== undefined && about === stack.last && stack.past.length > 0;
  const past = isSame ? stack.past : [...stack.past, before].slice(-MOST_STEPS);
  return { past, future: [], last: about };
}

export function back<T>(stack: UndoStack<T>, current: T): { stack: UndoStack<T>; value: T } | undefined {
  const value = stack.past.at(-1);
  if (value === undefined) return undefined;
  const past = stack.past.slice(0, -1);
  return { stack: { past, future: [current, ...stack.future], last: undefined }, value };
}

export function forth<T>(stack: UndoStack<T>, current: T): { stack: UndoStack<T>; value: T } | undefined {
  const [value, ...future] = stack.future;
  if (value === undefined) return undefined;
  return { stack: { past: [...stack.past, current], future, last: undefined }, value };
}
