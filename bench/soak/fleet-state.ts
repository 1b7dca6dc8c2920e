// What the next piece of a run needs besides the database: secrets, and what each name was answered with at the end.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Value } from './name-history.ts';

export interface SoakDomain {
  /** Below `zz`. */
  readonly label: string;
  readonly isSigned: boolean;
  /** The DS record of the parent, in presentation form. */
  ds: string | undefined;
  /** By owner name relative to the domain. */
  values: Record<string, Value | null>;
}

export interface FleetState {
  readonly seed: number;
  readonly keySecrets: string;
  readonly tsigSecrets: string;
  readonly adminKey: string;
  readonly ownerKey: string;
  /** The largest value that was written. */
  counter: number;
  /** Number of domains that were created, delegated, signed and deleted. */
  lives: number;
  /** Duration of all pieces. */
  ranMs: number;
  domains: SoakDomain[];
}

export function loadState(directory: string): FleetState {
  return JSON.parse(readFileSync(fileIn(directory), 'utf8'));
}

export function saveState(directory: string, state: FleetState): void {
  mkdirSync(join(directory, 'state'), { recursive: true });
  writeFileSync(fileIn(directory), `${JSON.stringify(state)}\n`, { mode: 0o600 });
}

function fileIn(directory: string): string {
  return join(directory, 'state', 'state.json');
}
