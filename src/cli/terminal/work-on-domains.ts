// Runs a command on many domains. Each has its own transaction, a few run concurrently, and the outcomes are printed in the
// order of the names. After an interrupt, domains that have begun are finished.

import { printWithoutDot } from '../../zone/name-text.ts';
import type { BadDomainName, WantedDomain } from './collect-domain-names.ts';
import { INTERRUPTED, type Item, Listing, type Output } from './output.ts';

export type DomainOutcome =
  /** `words` follow the domain's name in the text, `lines` follow that line, and `members` are added to the JSON. */
  | {
      readonly kind: 'done';
      readonly words: string;
      readonly lines?: readonly string[];
      readonly members: object;
      /** True if the command was carried out but the answer is "no". */
      readonly isNo?: boolean;
    }
  /** `lines` follow the message in the text, `members` are added to the JSON. */
  | {
      readonly kind: 'refused';
      readonly code: string;
      readonly message: string;
      readonly lines?: readonly string[];
      readonly members?: object;
    };

interface DomainWork {
  readonly domains: Iterable<WantedDomain | BadDomainName>;
  /** Outcome that is printed for a domain that is done, such as `banned`. */
  readonly outcome: string;
  readonly act: (domain: WantedDomain) => Promise<DomainOutcome>;
  /** Domains for which this returns the same text are processed one after another, in the order of the names. */
  readonly turnOf?: (domain: WantedDomain) => string;
  readonly signal: AbortSignal;
}

const UNDER_WAY = 4;

export async function workOnDomains(work: DomainWork, output: Output): Promise<number> {
  const listing = new Listing(output, 'domains');
  const counts = { domains: 0, done: 0, refused: 0 };
  const turns = new Map<string, Promise<unknown>>();
  const begun: Promise<{ domain: WantedDomain | BadDomainName; came: DomainOutcome }>[] = [];
  let isNo = false;
  const tellNext = async () => {
    const next = await begun.shift();
    if (next === undefined) return;
    counts.domains++;
    counts[next.came.kind]++;
    if (next.came.kind === 'done' && next.came.isNo === true) isNo = true;
    await listing.add(itemOf(next.domain, next.came, work.outcome));
  };
  let complete = false;
  try {
    for (const domain of work.domains) {
      if (work.signal.aborted) break;
      const coming = actOn(domain, work, turns).then((came) => ({ domain, came }));
      coming.catch(() => {}); // awaited later, in the order of the names
      begun.push(coming);
      if (begun.length >= UNDER_WAY) await tellNext();
    }
    while (begun.length > 0) await tellNext();
    complete = !work.signal.aborted;
  } finally {
    while (begun.length > 0) await tellNext().catch(() => {}); // after a failure, still prints the other outcomes
    const stopped = complete ? '' : ' (stopped before the end)';
    const line = `domains ${counts.domains} ${work.outcome} ${counts.done} refused ${counts.refused}${stopped}`;
    await listing.end({ summary: { ...counts, complete } }, line);
  }
  if (!complete) return INTERRUPTED;
  return counts.refused > 0 || isNo ? 1 : 0;
}

async function actOn(
  domain: WantedDomain | BadDomainName,
  { act, turnOf }: DomainWork,
  turns: Map<string, Promise<unknown>>,
): Promise<DomainOutcome> {
  if (domain.kind === 'bad') return { kind: 'refused', code: 'not_a_name', message: domain.message };
  if (turnOf === undefined) return await act(domain);
  const turn = turnOf(domain);
  const run = () => act(domain);
  const coming = (turns.get(turn) ?? Promise.resolve()).then(run, run);
  turns.set(turn, coming);
  return await coming;
}

function itemOf(domain: WantedDomain | BadDomainName, came: DomainOutcome, outcome: string): Item {
  const name = domain.kind === 'wanted' ? printWithoutDot(domain.name) : domain.text;
  if (came.kind === 'done') {
    return {
      json: { domain: name, outcome, ...came.members },
      lines: [`${outcome} ${name} ${came.words}`.trimEnd(), ...(came.lines ?? [])],
    };
  }
  const { code, message, lines = [], members } = came;
  const place = domain.place === undefined ? {} : { place: domain.place };
  return {
    json: { domain: name, outcome: 'refused', code, message, ...place, ...members },
    problems: [`${domain.place === undefined ? '' : `${domain.place}: `}${name}: ${message}`, ...lines],
  };
}
