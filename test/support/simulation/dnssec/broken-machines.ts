// Key machines with one rule broken, by what they are told, by their waits, or by what they do. A simulation that does not see
// one of them would prove nothing of that rule.

import { type Advanced, advance, type Facts } from '../../../../src/checks/dnssec/advance.ts';
import type { DsAnswer } from '../../../../src/checks/dnssec/ds-evidence.ts';
import { type Machine, wantedIds } from '../../../../src/checks/dnssec/machine.ts';
import type { Step } from '../../../../src/checks/dnssec/next-keys.ts';
import { type MachineRules, RULES } from '../../../../src/checks/dnssec/rules.ts';
import { type Serving, UNSIGNED } from '../../../../src/checks/dnssec/serving.ts';
import { DAY, HOUR } from '../virtual-time.ts';
import type { MachineUnderTest } from './simulated-signed-domain.ts';

export const REAL: MachineUnderTest = { rules: RULES, advance };

const byRules = (rules: Partial<MachineRules>): MachineUnderTest => ({
  ...REAL,
  rules: { ...RULES, ...rules },
});

const byFacts = (change: (facts: Facts, machine: Machine) => Facts): MachineUnderTest => ({
  rules: RULES,
  advance: (machine, facts, rules) => advance(machine, change(facts, machine), rules),
});

const byAnswers = (change: (answers: readonly DsAnswer[]) => readonly DsAnswer[]): MachineUnderTest =>
  byFacts((facts) =>
    facts.ds === undefined ? facts : { ...facts, ds: { ...facts.ds, answers: change(facts.ds.answers) } },
  );

const byMemory = (change: (before: Machine, facts: Facts) => Machine): MachineUnderTest => ({
  rules: RULES,
  advance: (machine, facts, rules) => advance(change(machine, facts), facts, rules),
});

const byResult = (
  change: (result: Advanced, before: Machine, facts: Facts) => Advanced,
): MachineUnderTest => ({
  rules: RULES,
  advance: (machine, facts, rules) => change(advance(machine, facts, rules), machine, facts),
});

/** Does more than the step says. */
const byStep = (change: (step: Step, machine: Machine) => Serving | undefined): MachineUnderTest =>
  byResult(({ machine, step }) => {
    const serving = step === undefined ? undefined : change(step, machine);
    if (step === undefined || serving === undefined) return { machine, step };
    return { machine: { ...machine, serving }, step: { ...step, serving } };
  });

const wantedServing = ({ wanted, serving }: Machine): Serving | undefined =>
  wanted === null
    ? undefined
    : { ...serving, keys: wantedIds({ wanted }), keySigners: [wanted.sep], dataSigners: [wanted.data] };

const OURS: Facts['delegation'] = { kind: 'ours', since: 0, ttl: 0, isFirst: true };

/** Without what is served no longer. */
const withoutPast = (machine: Machine): Machine => ({
  ...machine,
  ledger: {
    ds: [],
    keySets: machine.ledger.keySets.filter(({ isEnded }) => !isEnded),
    data: machine.ledger.data.filter(({ isEnded }) => !isEnded),
  },
});

export const BROKEN_MACHINES: readonly (readonly [rule: string, machine: MachineUnderTest])[] = [
  ['there is no stay', byRules({ stayMs: 0 })],
  ['a silent node counts at once as gone', byRules({ silentNodeMs: HOUR })],
  ['backups have no age', byRules({ backupAfterMs: 0 })],
  ['our clocks and nodes are exact', byRules({ nodeSlackMs: 0 })],
  ['parents show everything at once', byRules({ parentSlackMs: 0 })],
  ['servers of before are not asked any more', byRules({ oldServersMs: -2 * DAY })],
  ['nothing happens while nobody looks', byRules({ gapMs: 1000 * DAY })],
  ['a silent address of the parent counts at once as gone', byRules({ silentAddressMs: 0 })],
  ['the TTL of data does not count', byFacts((facts) => ({ ...facts, dataTtl: 0 }))],
  [
    'the TTL of data is what it is now',
    byMemory((machine, { dataTtl }) => ({
      ...machine,
      ledger: {
        ...machine.ledger,
        keySets: machine.ledger.keySets.map((version) => ({
          ...version,
          ttl: Math.min(version.ttl, Math.max(dataTtl, 3600)),
        })),
        data: machine.ledger.data.map((version) => ({ ...version, ttl: Math.min(version.ttl, dataTtl) })),
      },
    })),
  ],
  [
    'one address is enough for a DS to be gone',
    byAnswers((answers) => {
      const heard = answers.filter(({ outcome }) => outcome !== 'unknown');
      return heard.sort((a, b) => a.ds.length - b.ds.length).slice(0, 1);
    }),
  ],
  [
    'silence shows that there is no DS',
    byAnswers((answers) =>
      answers.map((answer) =>
        answer.outcome === 'unknown' ? { ...answer, outcome: 'none', ttl: 0 } : answer,
      ),
    ),
  ],
  [
    'only DS of SHA-256 are ours',
    byAnswers((answers) =>
      answers.map((answer) => ({ ...answer, ds: answer.ds.filter((ds) => ds[3] === 2) })),
    ),
  ],
  [
    'no preflight is made',
    byFacts((facts, { serving, clock }) => ({
      ...facts,
      preflight: { at: Math.max(facts.at, clock), verifiedBy: serving.keySigners, hasStrangers: false },
    })),
  ],
  ['whoever is delegated to does not matter', byFacts((facts) => ({ ...facts, delegation: OURS }))],
  [
    'what was asked for is not taken back when others serve the domain',
    byFacts((facts, { asked }) => (asked.length === 0 ? facts : { ...facts, delegation: OURS })),
  ],
  [
    'one node is enough',
    byFacts((facts) => {
      const newest = Math.max(...facts.nodes.map(({ version }) => version ?? -1));
      return { ...facts, nodes: facts.nodes.filter(({ version }) => version === newest) };
    }),
  ],
  [
    'a node without room has what it has not',
    byFacts((facts) => ({
      ...facts,
      nodes: facts.nodes.map((node) => ({ ...node, version: node.version ?? Number.MAX_SAFE_INTEGER })),
    })),
  ],
  ['a restore is not noticed', byMemory((machine, { epoch }) => ({ ...machine, epoch }))],
  [
    'a restored database is believed at once',
    byMemory((machine) => (machine.hold?.cause === 'restore' ? { ...machine, hold: null } : machine)),
  ],
  [
    'what was asked for since the backup is forgotten',
    byResult(({ machine, step }, { epoch, atLarge, ledger: { ds } }, facts) => ({
      machine:
        epoch === null || epoch === facts.epoch
          ? machine
          : { ...machine, atLarge, ledger: { ...machine.ledger, ds } },
      step,
    })),
  ],
  [
    'haste does not wait for caches',
    byMemory((machine) => (machine.urgent ? withoutPast(machine) : machine)),
  ],
  [
    'caches forget data at once',
    byMemory((machine) => ({
      ...machine,
      ledger: { ...machine.ledger, data: machine.ledger.data.filter(({ isEnded }) => !isEnded) },
    })),
  ],
  [
    'caches forget DS sets at once',
    byMemory((machine) => ({ ...machine, ledger: { ...machine.ledger, ds: [] } })),
  ],
  [
    'a DS that was never seen is never coming',
    byMemory((machine) => ({
      ...machine,
      atLarge: machine.atLarge.filter(
        (id) => machine.asked.includes(id) || machine.ledger.ds.some(({ ds }) => ds.includes(id)),
      ),
    })),
  ],
  ['the stay begins though a node still asks for the DS', byMemory((machine) => ({ ...machine, toldAt: 0 }))],
  [
    'the DS is asked for along with the signatures',
    byResult(({ machine, step }) => {
      if (step?.kind !== 'sign') return { machine, step };
      const asked = step.serving.keySigners;
      return { machine: { ...machine, asked, atLarge: asked }, step: { ...step, asked } };
    }),
  ],
  [
    'the zone is unsigned when no DS is asked for',
    byStep(({ kind }) => (kind === 'ask_none' ? UNSIGNED : undefined)),
  ],
  [
    'the old key goes when the DS of the new one is asked for',
    byStep(({ kind }, machine) => (kind === 'ask' ? wantedServing(machine) : undefined)),
  ],
  [
    'a key of another algorithm comes along with its signatures',
    byStep(({ kind, serving }, machine) =>
      kind === 'add_signatures' && machine.wanted !== null
        ? {
            keys: [...new Set([...serving.keys, ...wantedIds(machine)])].sort(),
            keySigners: [...serving.keySigners, machine.wanted.sep].sort(),
            dataSigners: serving.dataSigners,
          }
        : undefined,
    ),
  ],
  [
    'the signatures of an algorithm go along with its key',
    byStep(({ kind }, machine) => (kind === 'withdraw' ? wantedServing(machine) : undefined)),
  ],
  [
    'only the new key signs the DNSKEY set',
    byStep(({ kind, serving }, { wanted }) =>
      kind === 'publish' && wanted !== null ? { ...serving, keySigners: [wanted.sep] } : undefined,
    ),
  ],
];
