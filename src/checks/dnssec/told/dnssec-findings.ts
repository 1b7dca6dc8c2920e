// Findings about a domain's DNSSEC, from a closed list, each with a sentence that tells the owner what to change. The codes
// are part of the public API; the sentences are not.

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
  /** No key of ours matches any DS: validating resolvers reject the domain. */
  | 'DS_OTHER'
  | 'DS_MISTYPED'
  /** A DS that matches no key, in addition to one of ours. */
  | 'DS_EXTRA'
  | 'DS_WEAK'
  | 'DS_PARTIAL'
  | 'PARENT_UNSIGNED'
  /** The domain is delegated elsewhere, but has DS records of our keys. */
  | 'DS_LEFT_BEHIND'
  /** The delegation lists other operators' servers besides ours, and there is a DS record. */
  | 'DS_UNSIGNED_SERVERS'
  | ForeignFinding['code']
  | 'DNSSEC_STEP_WAITS';

export interface DnssecFinding {
  readonly code: DnssecFindingCode;
  readonly severity: 'info' | 'warning' | 'error';
  readonly message: string;
}

/**
 * `currentNs`: NS names last seen at the parent, or null if it was not seen. `ours`: all nameservers that prove the
 * domain.
 */
export function delegatedTo(currentNs: readonly Name[] | null, ours: readonly Name[]): DelegatedTo {
  if (currentNs === null || currentNs.length === 0) return 'unknown';
  const known = currentNs.filter((name) => ours.includes(name)).length;
  if (known === 0) return 'elsewhere';
  return known === currentNs.length ? 'ours' : 'both';
}

/** How long a step must wait before the owner sees a finding about it. */
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
            message: `No key of the zone matches the DS record at the parent, so validating resolvers reject the domain now. Remove this at your registrar: ${list}.`,
          }
        : {
            code: 'DS_EXTRA',
            severity: 'warning',
            message: `A DS record at the parent matches no key of the zone. It is harmless while ours is there, but should be removed at your registrar: ${list}.`,
          },
    );
  }
  if (ours.length > 0 && ours.every(({ isWeak }) => isWeak))
    found.push({
      code: 'DS_WEAK',
      severity: 'warning',
      message: `The DS record at the parent has only a SHA-1 digest, which resolvers may reject. Enter the one with a SHA-256 digest: ${strongDs(ours, machine)}.`,
    });
  const partial = ours.find((record) => record.meaning === 'wanted' && record.addresses < addresses);
  if (partial !== undefined)
    found.push({
      code: 'DS_PARTIAL',
      severity: 'info',
      message: `${partial.addresses} of ${addresses} addresses of the parent show the DS record. The registry is still distributing it; you do not need to do anything.`,
    });
  if (machine.goal === 'signed' && machine.parent.isSecure === false)
    found.push({
      code: 'PARENT_UNSIGNED',
      severity: 'info',
      message:
        'The parent zone has no DNSSEC, so a DS record has no effect there yet. You do not need to enter one; we check again automatically.',
    });
  return found;
}

function mistyped({ text, keyId }: ShownRecord, machine: Machine): string {
  const right = strongOf(keyId, machine);
  const instead = right === undefined ? '' : ` It must read: ${inWords(right)}.`;
  return `The DS ${inWords(text)} refers to a key of the zone, but its digest is wrong, possibly because of a typing error.${instead}`;
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
        message: `The domain is delegated elsewhere, but its DS record still refers to our keys, so validating resolvers reject the domain. Remove this at your registrar: ${ours.map(({ text }) => inWords(text)).join('; ')}.`,
      },
    ];
  if (delegatedTo === 'both' && records.length > 0)
    return [
      {
        code: 'DS_UNSIGNED_SERVERS',
        severity: 'error',
        message:
          'Besides ours, the parent lists other operators’ nameservers. Their answers do not have our signatures, so validating resolvers reject them. Remove those nameservers at your registrar.',
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

/** Adds that CDS records request the same change, including one without any DS (RFC 8078 §4). */
function byCds({ serving, asked, goal }: Machine): string {
  if (!isSigned(serving) || (asked.length === 0 && goal === 'signed')) return '';
  return ' If your registry reads CDS records, it does this automatically.';
}

/** Causes of waits that the owner cannot end at the registrar. Waits for DS records have their own findings. */
const CAUSES: Readonly<Partial<Record<WaitCause, string>>> = {
  writing: 'the last step is still being written',
  nodes: 'a nameserver has not loaded the last step yet',
  restore: 'the database was restored, and caches must expire earlier answers',
  clock: 'the clock of the database went back',
  strangers: 'nameservers show keys that are not in the database: an operator must investigate',
  preflight: 'the answers of the nameservers do not validate yet',
  delegation: 'the parent has not listed only our nameservers for long enough',
  foreign: 'the nameservers of the other operator have not shown the keys of this zone for long enough',
  observation: 'the parent could not be queried recently',
  caches: 'caches may hold earlier answers, or a key is newer than our backups',
  stay: 'a removed DS record may come back',
};

/** Returns undefined if the owner must act at the registrar. */
export function waitInWords(cause: WaitCause): string | undefined {
  return CAUSES[cause];
}

/** Waits that end automatically. */
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
