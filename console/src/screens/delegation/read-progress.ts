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
    zones: data.walk.filter(isObject).flatMap(({ zone }) => (typeof zone === 'string' ? [zone] : [])),
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

/** The zones from the root to the one above the domain, where a check does not tell its way. */
export function wayTo(parent: string | undefined): readonly string[] {
  const zone = parent === '' ? '.' : parent;
  return zone === undefined || zone === '.' ? ['.'] : ['.', zone];
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
