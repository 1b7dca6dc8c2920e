// Groups the servers of the parent zone by their responses: each response is shown once, next to its servers.

import { judgeNames, type SetVerdict } from './compare-sets.ts';

/** The part of a check's evidence that the picture shows. */
export interface ServerAnswer {
  readonly server: string;
  readonly address?: string | undefined;
  readonly outcome: string;
  readonly ns?: readonly string[] | undefined;
  readonly rtt_ms?: number | undefined;
  readonly transport?: string | undefined;
  readonly error?: string | undefined;
}

export type AnswerVerdict = SetVerdict | 'not_delegated' | 'unregistered' | 'alias' | 'silent';

/** `silent`: no usable response. */
export type Tone = 'good' | 'bad' | 'silent';

export interface AnswerGroup<S extends ServerAnswer = ServerAnswer> {
  readonly key: string;
  readonly verdict: AnswerVerdict;
  readonly tone: Tone;
  /** The delegation in the response. */
  readonly ns: readonly string[];
  readonly servers: readonly S[];
}

/** Sorted by number of servers, groups without a usable response last. */
export function groupAnswers<S extends ServerAnswer>(
  servers: readonly S[],
  accepted: readonly (readonly string[])[],
): readonly AnswerGroup<S>[] {
  const groups = new Map<string, AnswerGroup<S>>();
  for (const server of servers) {
    const verdict = verdictOf(server, accepted);
    const ns = [...(server.ns ?? [])].sort();
    const key = verdict === 'silent' ? verdict : `${verdict} ${ns.join(' ')}`;
    const before = groups.get(key)?.servers ?? [];
    groups.set(key, { key, verdict, tone: toneOf(verdict), ns, servers: [...before, server] });
  }
  return [...groups.values()].sort(
    (a, b) =>
      Number(a.verdict === 'silent') - Number(b.verdict === 'silent') || b.servers.length - a.servers.length,
  );
}

export function verdictOf(server: ServerAnswer, accepted: readonly (readonly string[])[]): AnswerVerdict {
  switch (server.outcome) {
    case 'referral':
    case 'answer':
      return judgeNames(server.ns ?? [], accepted);
    case 'nodata':
      return 'not_delegated';
    case 'nxdomain':
      return 'unregistered';
    case 'alias':
      return 'alias';
    default:
      return 'silent';
  }
}

export function toneOf(verdict: AnswerVerdict): Tone {
  if (verdict === 'match') return 'good';
  return verdict === 'silent' ? 'silent' : 'bad';
}
