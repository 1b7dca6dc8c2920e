// The events that tell how far a check is. What is not of the expected form is left out, and never breaks the page.

import type { ServerAnswer } from './group-answers.ts';

export interface Progress {
  /** The zones of the way so far, the root first. */
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

/** The zones of a way from the root. */
export function wayOf(walk: readonly { readonly zone: string }[]): readonly string[] {
  return walk.map(({ zone }) => (zone === '' ? '.' : zone));
}

/** The same for a check that does not tell its way: from the root to the zone above the domain. */
export function wayTo(parent: string | undefined): readonly string[] {
  return parent === undefined || parent === '' || parent === '.' ? ['.'] : ['.', parent];
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
