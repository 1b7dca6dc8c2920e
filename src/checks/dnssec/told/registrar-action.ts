// Determines what the owner must enter at the registrar now: DS records to add and to remove, and from when.

import { dsFields } from '../ds-evidence.ts';
import { keyOf, type Machine } from '../machine.ts';
import type { MachineRules } from '../rules.ts';
import { isSigned } from '../serving.ts';
import { dsOfKey, type ShownRecord, viewParent } from './parent-view.ts';

export const REGISTRAR_ACTIONS = ['none', 'add', 'replace', 'remove', 'wait'] as const;

interface RegistrarAction {
  readonly action: (typeof REGISTRAR_ACTIONS)[number];
  /** Milliseconds since 1970. */
  readonly from?: number;
  /** In the format of `dsText`, with SHA-256. */
  readonly add: readonly string[];
  readonly remove: readonly string[];
  readonly message: string;
}

/** Digest type that owners must enter (RFC 8624 §3.3). */
export const ASKED_DIGEST = 2;

export function registrarAction(machine: Machine, rules: MachineRules): RegistrarAction {
  const { records, everywhere } = viewParent(machine, rules);
  const missing = machine.asked.filter((id) => !everywhere.includes(id));
  const shown = (id: string) =>
    records.some(({ keyId, meaning }) => keyId === id && (meaning === 'wanted' || meaning === 'foreign'));
  const add = missing
    .filter((id) => !shown(id))
    .flatMap((id) => dsOfKey(keyOf(machine, id), ASKED_DIGEST) ?? []);
  const remove = records.filter((record) => isRemovable(record, machine)).map(({ text }) => text);
  if (add.length > 0 && remove.length > 0)
    return { action: 'replace', add, remove, message: replaceText(add, remove) };
  if (add.length > 0) return { action: 'add', add, remove, message: addText(add) };
  if (remove.length > 0) return { action: 'remove', add, remove, message: removeText(remove) };
  return idle(machine, missing.length > 0);
}

/**
 * DS records that match no key may be removed immediately. Those of leaving keys may be removed once another one or none is
 * requested instead.
 */
function isRemovable({ meaning, keyId }: ShownRecord, { goal, asked, waiting }: Machine): boolean {
  if (meaning === 'foreign') {
    const isWaitedFor = waiting?.cause === 'ds_unwanted' && waiting.keys.some((id) => id === keyId);
    return isWaitedFor && !asked.some((id) => id === keyId);
  }
  if (meaning === 'unwanted') return goal === 'unsigned' || asked.length > 0;
  return meaning !== 'wanted';
}

function idle(machine: Machine, isUnderWay: boolean): RegistrarAction {
  const nothing = { add: [], remove: [] } as const;
  const { goal, serving, waiting, asked } = machine;
  if (isUnderWay)
    return {
      ...nothing,
      action: 'wait',
      message:
        'Some servers of the registry already show the DS record. It is still being distributed; you do not need to do anything.',
    };
  if (goal === 'signed' && asked.length === 0) {
    const from = waiting?.until;
    return {
      ...nothing,
      action: 'wait',
      ...(from !== undefined && { from }),
      message:
        'It is too early for a DS record, because resolvers may still have earlier answers. Do not enter one yet; the record will be shown here when it is time.',
    };
  }
  if (goal === 'unsigned' && isSigned(serving))
    return {
      ...nothing,
      action: 'wait',
      ...(waiting?.until !== undefined && { from: waiting.until }),
      message: 'The DS records have been removed. The signatures remain until no resolver needs them.',
    };
  return { ...nothing, action: 'none', message: 'You do not need to enter anything.' };
}

function addText(add: readonly string[]): string {
  return `Enter this DS record at your registrar: ${add.map(inWords).join('; ')}.`;
}

function removeText(remove: readonly string[]): string {
  return `Remove ${remove.length === 1 ? 'this DS record' : 'these DS records'} at your registrar: ${remove.map(inWords).join('; ')}.`;
}

function replaceText(add: readonly string[], remove: readonly string[]): string {
  return `At your registrar, in one step, enter ${add.map(inWords).join('; ')} and remove ${remove.map(inWords).join('; ')}.`;
}

/** Registrars have a field for each of the four values. */
export function inWords(text: string): string {
  const { keyTag, algorithm, digestType, digest } = dsFields(text);
  return `key tag ${keyTag}, algorithm ${algorithm}, digest type ${digestType}, digest ${digest}`;
}
