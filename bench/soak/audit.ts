// Compares every name on every node with the confirmed edits. No edit may be open.

import { setTimeout as pause } from 'node:timers/promises';
import { type Asker, valueIn } from './ask-names.ts';
import type { EditedNames } from './edited-names.ts';

const PAUSE_MS = 200;

/** Returns the differences that remain after `limitMs`. */
export async function findLost(
  names: EditedNames,
  nodes: Readonly<Record<string, Asker>>,
  limitMs: number,
): Promise<string[]> {
  for (const deadline = performance.now() + limitMs; ; await pause(PAUSE_MS)) {
    const found = (
      await Promise.all(Object.entries(nodes).map(([label, asker]) => differences(names, label, asker)))
    ).flat();
    if (found.length === 0 || performance.now() > deadline) return found;
  }
}

async function differences(names: EditedNames, label: string, asker: Asker): Promise<string[]> {
  const found: string[] = [];
  for (const { name, history } of names.all) {
    for (const type of ['TXT', 'A'] as const) {
      const reply = await asker.ask({ name, type }, { tries: 2, timeoutMs: 2000 });
      const expected = history.stored;
      let seen: string;
      try {
        if (reply === undefined) return [`${label} does not answer`];
        seen = String(valueIn(reply, type) ?? 'none');
      } catch (error) {
        seen = (error as Error).message;
      }
      if (seen !== String(expected ?? 'none'))
        found.push(`${label}: ${name} ${type} is ${seen}, not ${expected ?? 'none'}`);
    }
  }
  return found;
}
