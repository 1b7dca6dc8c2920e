// What an owner has to know about DNSSEC of a domain, from one closed list, each with a sentence that says what to change. The
// codes are part of the API, the sentences are not.

import type { Name } from '../../../dns/name.ts';
import { keyOf, type Machine, sharedKeys, type WaitCause } from '../machine.ts';
import { DAY_MS, type MachineRules } from '../rules.ts';
import { isSigned } from '../serving.ts';
import { type DelegatedTo, type ForeignFinding, foreignFindings } from './foreign-findings.ts';
import { dsOfKey, type ParentView, type ShownRecord, viewParent } from './parent-view.ts';
import { ASKED_DIGEST, inWords, registrarAction } from './registrar-action.ts';

type DnssecFindingCode =
  | 'DS_WANTED'
  | 'DS_REPLACE'
  | 'DS_REMOVE'
  /** No key of ours matches any DS: resolvers that validate refuse the domain. */
  | 'DS_OTHER'
  | 'DS_MISTYPED'
  /** A DS of nobody beside ours. */
  | 'DS_EXTRA'
  | 'DS_WEAK'
  | 'DS_PARTIAL'
  | 'PARENT_UNSIGNED'
  /** Delegated elsewhere, with DS of ours. */
  | 'DS_LEFT_BEHIND'
  /** Servers of others beside ours, and a DS. */
  | 'DS_UNSIGNED_SERVERS'
  | ForeignFinding['code']
  | 'DNSSEC_STEP_WAITS';

export interface DnssecFinding {
  readonly code: DnssecFindingCode;
  readonly severity: 'info' | 'warning' | 'error';
  readonly message: string;
}

/** `currentNs`: what the parent was last seen to name; null: it was not seen. `ours`: all nameservers that prove the domain. */
export function delegatedTo(currentNs: readonly Name[] | null, ours: readonly Name[]): DelegatedTo {
  if (currentNs === null || currentNs.length === 0) return 'unknown';
  const known = currentNs.filter((name) => ours.includes(name)).length;
  if (known === 0) return 'elsewhere';
  return known === currentNs.length ? 'ours' : 'both';
}

/** Owners who have been asked are told again after so long. */
const STEP_WAITS_MS = 3 * DAY_MS;

export function dnssecFindings(
  machine: Machine,
  delegatedTo: DelegatedTo,
  at: number,
  rules: MachineRules,
): readonly DnssecFinding[] {
  const view = viewParent(machine, rules);
  return [
    ...ofRecords(machine, view),
    ...ofDelegation(machine, view, delegatedTo),
    ...ofRegistrar(machine, rules),
    ...foreignFindings(machine, delegatedTo, at, rules),
    ...ofWait(machine, at),
  ];
}

function ofRecords(machine: Machine, { records, addresses }: ParentView): DnssecFinding[] {
  const found: DnssecFinding[] = [];
  const others = records.filter(({ meaning }) => meaning === 'other');
  const ours = records.filter(({ meaning }) => meaning === 'wanted' || meaning === 'unwanted');
  const isTheirs = records.some(({ meaning }) => meaning === 'foreign');
  const isBogus = ours.length === 0 && !isTheirs && records.length > 0;
  for (const record of records.filter(({ meaning }) => meaning === 'mistyped'))
    found.push({
      code: 'DS_MISTYPED',
      severity: isBogus ? 'error' : 'warning',
      message: mistyped(record, machine),
    });
  if (others.length > 0) {
    const list = others.map(({ text }) => inWords(text)).join('; ');
    found.push(
      isBogus
        ? {
            code: 'DS_OTHER',
            severity: 'error',
            message: `No key of the zone matches the DS at the parent, so resolvers that validate refuse the domain now. Remove at your registrar: ${list}.`,
          }
        : {
            code: 'DS_EXTRA',
            severity: 'warning',
            message: `A DS record at the parent belongs to no key of the zone. It does no harm while ours is there; remove it at your registrar: ${list}.`,
          },
    );
  }
  if (ours.length > 0 && ours.every(({ isWeak }) => isWeak))
    found.push({
      code: 'DS_WEAK',
      severity: 'warning',
      message: `The DS at the parent has a SHA-1 digest only, which resolvers need not accept. Enter the one with SHA-256: ${strongDs(ours, machine)}.`,
    });
  const partial = ours.find((record) => record.meaning === 'wanted' && record.addresses < addresses);
  if (partial !== undefined)
    found.push({
      code: 'DS_PARTIAL',
      severity: 'info',
      message: `${partial.addresses} of ${addresses} addresses of the parent show the DS: the registry is under way, and there is nothing to do.`,
    });
  if (machine.goal === 'signed' && machine.parent.isSecure === false)
    found.push({
      code: 'PARENT_UNSIGNED',
      severity: 'info',
      message:
        'The zone above has no DNSSEC, so a DS has no effect there yet. There is nothing to enter; we keep watching.',
    });
  return found;
}

function mistyped({ text, keyId }: ShownRecord, machine: Machine): string {
  const right = strongOf(keyId, machine);
  const instead = right === undefined ? '' : ` It must read: ${inWords(right)}.`;
  return `The DS ${inWords(text)} names a key of the zone with a wrong digest, perhaps a typing error.${instead}`;
}

function strongDs(records: readonly ShownRecord[], machine: Machine): string {
  return records
    .flatMap(({ keyId }) => strongOf(keyId, machine) ?? [])
    .map(inWords)
    .join('; ');
}

function strongOf(keyId: string | undefined, machine: Machine): string | undefined {
  return keyId === undefined ? undefined : dsOfKey(keyOf(machine, keyId), ASKED_DIGEST);
}

function ofDelegation(machine: Machine, { records }: ParentView, delegatedTo: DelegatedTo): DnssecFinding[] {
  const ours = records.filter(({ meaning }) => meaning === 'wanted' || meaning === 'unwanted');
  const isShared = (id: string | undefined) => sharedKeys(machine).some((key) => key.id === id);
  if (records.some(({ meaning, keyId }) => meaning === 'foreign' || isShared(keyId))) return []; // both operators sign
  if (delegatedTo === 'elsewhere' && ours.length > 0)
    return [
      {
        code: 'DS_LEFT_BEHIND',
        severity: 'error',
        message: `The domain is delegated elsewhere, and its DS is still of our keys: resolvers that validate refuse it. Remove at your registrar: ${ours.map(({ text }) => inWords(text)).join('; ')}.`,
      },
    ];
  if (delegatedTo === 'both' && records.length > 0)
    return [
      {
        code: 'DS_UNSIGNED_SERVERS',
        severity: 'error',
        message:
          'Beside ours, the parent names nameservers of others, whose answers do not carry our signatures: resolvers that validate refuse them. Remove those nameservers at your registrar.',
      },
    ];
  return [];
}

function ofRegistrar(machine: Machine, rules: MachineRules): DnssecFinding[] {
  const { action, message } = registrarAction(machine, rules);
  switch (action) {
    case 'add':
      return [{ code: 'DS_WANTED', severity: 'info', message: `${message}${byCds(machine)}` }];
    case 'replace':
      return [{ code: 'DS_REPLACE', severity: 'warning', message: `${message}${byCds(machine)}` }];
    case 'remove':
      return [
        {
          code: 'DS_REMOVE',
          severity: machine.goal === 'unsigned' ? 'info' : 'warning',
          message: `${message}${byCds(machine)}`,
        },
      ];
    case 'none':
    case 'wait':
      return [];
    default:
      return action satisfies never;
  }
}

/** Of what the zone asks for in CDS records, to have no DS too (RFC 8078 §4). */
function byCds({ serving, asked, goal }: Machine): string {
  if (!isSigned(serving) || (asked.length === 0 && goal === 'signed')) return '';
  return ' If your registry reads CDS records, it does so by itself.';
}

/** What a step waits for that nobody enters at a registrar; the DS have findings of their own. */
const CAUSES: Readonly<Partial<Record<WaitCause, string>>> = {
  writing: 'the last step is still being written',
  nodes: 'a nameserver has not taken over the last step',
  restore: 'the database was restored, and answers of before have to leave caches',
  clock: 'the clock of the database went back',
  strangers: 'nameservers show keys that the database does not know: an operator has to look',
  preflight: 'the answers of the nameservers do not validate yet',
  delegation: 'the parent does not name our nameservers alone for long enough',
  foreign: 'the nameservers of the other operator do not show the keys of this zone for long enough',
  observation: 'the parent could not be asked lately',
  caches: 'caches may hold answers of before, or a key is younger than our backups',
  stay: 'a DS record that is gone may come back',
};

/** Undefined: for the owner, at the registrar. */
export function waitInWords(cause: WaitCause): string | undefined {
  return CAUSES[cause];
}

/** These end by themselves. */
const PASSING: ReadonlySet<WaitCause> = new Set(['caches', 'stay']);

function ofWait({ waiting }: Machine, at: number): DnssecFinding[] {
  if (waiting === null || at - waiting.since < STEP_WAITS_MS) return [];
  const { cause, until } = waiting;
  const words = waitInWords(cause);
  if (words === undefined) return [];
  const days = Math.floor((at - waiting.since) / DAY_MS);
  const end =
    until === undefined ? '' : ` It can be taken at ${new Date(until).toISOString().slice(0, 16)}Z.`;
  return [
    {
      code: 'DNSSEC_STEP_WAITS',
      severity: PASSING.has(cause) ? 'info' : 'warning',
      message: `The next step has waited for ${days} days: ${words}.${end}`,
    },
  ];
}
