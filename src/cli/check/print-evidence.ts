// Prints an observation of a delegation, as text or as JSON: the path from the root to the parent, the responses of the
// parent's addresses, their differences from the accepted sets, and the verdict.

import type { Expected } from '../../checks/delegation/check-state.ts';
import type {
  Evidence,
  Need,
  Security,
  ServerEvidence,
  WalkedZone,
} from '../../checks/delegation/evidence.ts';
import { WE_CHECK_AGAIN } from '../../checks/delegation/finding.ts';
import type { Judgement, Verdict } from '../../checks/delegation/verdict.ts';
import { rcodeMnemonic } from '../../dns/message/rcodes.ts';
import { compareNames, type Name, ROOT } from '../../dns/name.ts';
import { printRdata } from '../../dns/record/rdata.ts';
import { TYPE } from '../../dns/type-codes.ts';
import { printWithoutDot } from '../../zone/name-text.ts';
import { indentTable, joinBlocks } from '../terminal/blocks.ts';
import { type Paint, painter } from '../terminal/paint.ts';
import { printTable } from '../terminal/print-table.ts';

interface Observed {
  readonly evidence: Evidence;
  readonly judgement: Judgement;
  readonly expected: Expected;
  /** True if the accepted sets are the default of NAMESERVER_SETS, not the operator's. */
  readonly setsAreExamples?: boolean;
}

export function printEvidence(observed: Observed, { colours }: { readonly colours: boolean }): string {
  const paint = painter(colours);
  return joinBlocks([
    [paint('bold', printWithoutDot(observed.evidence.domain))],
    walkLines(observed.evidence),
    serverLines(observed.evidence, paint),
    setLines(observed, paint),
    verdictLines(observed, paint),
  ]);
}

const SHOWN_SERVERS = 4;

const SECURITY_WORDS: Readonly<Record<Security, string>> = {
  secure: 'validated from the root (secure); signatures never cover the NS records of a delegation',
  insecure: 'a zone on the path proves that the chain of signatures ends there (insecure)',
  indeterminate: 'not validated (indeterminate)',
};

function walkLines({ walk, parent, domain, failure, security, rootFault }: Evidence): string[] {
  const branch = (depth: number, text: string) =>
    depth === 0 ? text : `${'   '.repeat(depth - 1)}└─ ${text}`;
  const lines = walk.map((zone, depth) => branch(depth, walkedText(zone)));
  if (failure !== undefined) {
    lines.push(branch(walk.length, `the parent was not found: ${failure.message}`));
  } else if (parent !== undefined) {
    lines.push(branch(walk.length, `${printWithoutDot(domain)}  is queried at ${printWithoutDot(parent)}`));
  }
  if (rootFault === true) {
    lines.push(
      'DNSSEC: the root does not validate with our trust anchors; the cause is probably on our side (indeterminate)',
    );
  } else if (failure === undefined && parent !== undefined) {
    lines.push(`DNSSEC of ${printWithoutDot(parent)}: ${SECURITY_WORDS[security ?? 'indeterminate']}`);
  }
  return lines;
}

function walkedText({ zone, servers, cached }: WalkedZone): string {
  const shown = servers.slice(0, SHOWN_SERVERS).map(printWithoutDot);
  const more = servers.length > shown.length ? [`and ${servers.length - shown.length} more`] : [];
  const names = servers.length === 0 ? 'served by this fleet' : [...shown, ...more].join(' ');
  return `${printWithoutDot(zone)}  ${names}${zone === ROOT ? '  (root hints)' : cached ? '  (cached)' : ''}`;
}

function serverLines(evidence: Evidence, paint: Paint): string[] {
  const { servers, parent, parentAddresses, queries, startedAt, finishedAt } = evidence;
  if (parent === undefined || servers.length === 0) return [];
  const seconds = ((finishedAt - startedAt) / 1000).toFixed(1);
  const packets = `${queries} ${queries === 1 ? 'packet' : 'packets'}`;
  const head = `Servers of ${printWithoutDot(parent)} (${servers.length} of ${parentAddresses} addresses, ${packets}, ${seconds} s)`;
  const rows = servers.map((server) => [
    printWithoutDot(server.server),
    server.address === '' ? '-' : server.address,
    server.transport,
    server.rttMs === undefined ? '-' : `${Math.round(server.rttMs)} ms`,
    server.outcome,
    saidText(server),
  ]);
  const table = printTable(['SERVER', 'ADDRESS', 'BY', 'TIME', 'OUTCOME', 'SAID'], rows);
  return [paint('bold', head), ...indentTable(table)];
}

const NEED_WORDS: Readonly<Record<Need, string>> = {
  tcp: 'TCP',
  no_edns: 'no EDNS',
  lower_case: 'lower case',
};

function saidText({ ns, ds, rcode, showsCut, proof, needed = [], error }: ServerEvidence): string {
  const said = [
    ...(ns.length > 0 ? [`NS ${ns.map(printWithoutDot).join(' ')}`] : []),
    ...ds.map((rdata) => `DS ${printRdata(TYPE.DS, rdata)}`),
    ...(proof === undefined ? [] : [proof === 'secure' ? 'proven' : 'not covered by the proof']),
    ...(rcode !== undefined && rcode !== 0 ? [rcodeMnemonic(rcode)] : []),
    ...(showsCut === undefined
      ? []
      : [showsCut ? 'delegated, according to its DS' : 'not delegated, according to its DS']),
    ...(needed.length > 0 ? [`needed ${needed.map((need) => NEED_WORDS[need]).join(' and ')}`] : []),
    ...(error === undefined ? [] : [error]),
  ];
  return said.length === 0 ? '-' : said.join('; ');
}

/** For each accepted set, prints what must change at the parent so that it shows exactly that set. */
function setLines(
  { judgement: { observed, matched }, expected, setsAreExamples }: Observed,
  paint: Paint,
): string[] {
  const { ours } = expected;
  const legend = observed === undefined ? ' (? = unknown whether the parent lists it)' : '';
  const lines = [
    paint('bold', `Our nameserver sets${legend}`),
    ...(setsAreExamples === true ? ['  NAMESERVER_SETS is not set: these are examples'] : []),
  ];
  for (const [i, set] of expected.sets.entries()) {
    const isOther = matched !== undefined && set !== matched;
    lines.push(`  set ${i + 1}${isOther ? ', also accepted' : ''}`);
    if (observed === undefined || isOther) {
      lines.push(...set.map((name) => `    ${isOther ? ' ' : '?'} ${printWithoutDot(name)}`));
      continue;
    }
    const names = [...new Set([...set, ...observed])].sort(compareNames);
    for (const name of names) lines.push(`    ${differenceText(name, set, observed, ours, paint)}`);
  }
  return lines;
}

function differenceText(
  name: Name,
  set: readonly Name[],
  observed: readonly Name[],
  ours: ReadonlySet<Name>,
  paint: Paint,
): string {
  const text = printWithoutDot(name);
  if (!observed.includes(name)) return paint('green', `+ ${text}  missing`);
  if (set.includes(name)) return `  ${text}`;
  return paint('red', `- ${text}  ${ours.has(name) ? 'of another set' : 'foreign'}`);
}

const VERDICT_WORDS: Readonly<Record<Verdict, string>> = {
  match: 'delegated to exactly one accepted set',
  partial: 'delegated to only part of one accepted set',
  extra: 'delegated to a complete set and to other servers',
  mixed: 'delegated to names of several sets',
  foreign: 'delegated to none of our servers',
  not_delegated: 'the name exists but is not delegated',
  unregistered: 'the name does not exist',
  alias: 'the name is an alias, so it cannot be delegated',
  unknown: 'no reliable result',
};

function verdictLines({ judgement }: Observed, paint: Paint): string[] {
  const { verdict, confirmations, confirmed, findings } = judgement;
  const colour = verdict === 'match' ? 'green' : verdict === 'unknown' ? 'yellow' : 'red';
  const by = `said by ${confirmations} ${confirmations === 1 ? 'address' : 'addresses'}`;
  const told = verdict === 'unknown' ? '' : ` (${by}${confirmed ? '' : ', not confirmed'})`;
  return [
    `${paint('bold', 'Verdict')} ${paint(colour, verdict)}: ${VERDICT_WORDS[verdict]}${told}`,
    ...findings.map(({ code, message }) => `  ${code}: ${promisingNothing(message)}`),
  ];
}

/** Replaces the promise that workers check again, because this command does not. */
function promisingNothing(message: string): string {
  return message.replace(WE_CHECK_AGAIN, 'run the check again later, or from another network');
}

export function evidenceJson({ evidence, judgement, expected }: Observed): object {
  const { domain, parent, walk, servers, parentAddresses, failure, queries, startedAt, finishedAt } =
    evidence;
  const { security, rootFault } = evidence;
  return {
    domain: printWithoutDot(domain),
    verdict: judgement.verdict,
    evidence: {
      parent: parent === undefined ? null : printWithoutDot(parent),
      walk: walk.map(({ zone, servers: names, cached }) => ({
        zone: printWithoutDot(zone),
        servers: names.map(printWithoutDot),
        cached,
      })),
      servers: servers.map(serverJson),
      security: security ?? 'indeterminate',
      ...(rootFault && { root_fault: true }),
      parent_addresses: parentAddresses,
      failure:
        failure === undefined
          ? null
          : { zone: printWithoutDot(failure.zone), reason: failure.reason, message: failure.message },
      queries,
      started_at: new Date(startedAt).toISOString(),
      finished_at: new Date(finishedAt).toISOString(),
    },
    judgement: judgementJson(judgement),
    accepted_sets: expected.sets.map((set) => set.map(printWithoutDot)),
  };
}

function serverJson({ server, address, askedAt, rttMs, ns, ds, ...said }: ServerEvidence): object {
  return {
    server: printWithoutDot(server),
    address: address === '' ? null : address,
    transport: said.transport,
    needed: said.needed ?? [],
    asked_at: new Date(askedAt).toISOString(),
    rtt_ms: rttMs ?? null,
    outcome: said.outcome,
    rcode: said.rcode ?? null,
    aa: said.aa ?? null,
    ns: ns.map(printWithoutDot),
    ttl: said.ttl ?? null,
    ds: ds.map((rdata) => Buffer.from(rdata).toString('hex')),
    shows_cut: said.showsCut ?? null,
    proof: said.proof ?? null,
    error: said.error ?? null,
  };
}

function judgementJson(judgement: Judgement): object {
  const { verdict, matched, observed, confirmations, confirmed, oursShown, staleDs, findings } = judgement;
  const { byAnswer, soleWitness } = judgement;
  return {
    verdict,
    matched: matched?.map(printWithoutDot) ?? null,
    observed: observed?.map(printWithoutDot) ?? null,
    confirmations,
    confirmed,
    by_answer: byAnswer,
    sole_witness: soleWitness,
    ours_shown: oursShown ?? null,
    stale_ds: staleDs,
    findings: findings.map(({ code, message, names }) => ({
      code,
      message: promisingNothing(message),
      ...(names !== undefined && names.length > 0 && { names: names.map(printWithoutDot) }),
    })),
  };
}
