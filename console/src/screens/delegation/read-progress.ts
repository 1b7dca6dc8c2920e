// Parses the progress events of a check. Events of an unexpected form are ignored, so that they never break the page.

import type { ServerAnswer } from './group-answers.ts';

export interface Progress {
  /** Zones on the path so far, starting with the root. */
  readonly zones: readonly string[];
  readonly servers: readonly ServerAnswer[];
}

export function readProgress(data: unknown): Progress | undefined {
  if (!isObject(data) || !Array.isArray(data.walk) || !Array.isArray(data.servers)) return undefined;
  return {
    zones: wayOf(
      data.walk.filter(isObject).filter((at): at is { zone: string } => typeof at.zone === 'string'),
    ),
    servers: data.servers.filter(isObject).flatMap(({ server, address, outcome, rtt_ms }) =>
      typeof server === 'string' && typeof outcome === 'string'
        ? [
            {
              server,
              outcome,
              ...(typeof address === 'string' && { address }),
              ...(typeof rtt_ms === 'number' && { rtt_ms }),
            },
          ]
        : [],
    ),
  };
}

/** Returns the path of a check. */
export function wayOf(walk: readonly { readonly zone: string }[]): readonly string[] {
  return walk.map(({ zone }) => (zone === '' ? '.' : zone));
}

/** Returns the path for a check without one: from the root to the parent of the domain. */
export function wayTo(parent: string | undefined): readonly string[] {
  return parent === undefined || parent === '' || parent === '.' ? ['.'] : ['.', parent];
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
