// The steps of signing, of a key rollover, and of the end of signing.

import type { Schemas } from '../../api/client.ts';

export type Dnssec = Schemas['Dnssec'];

interface Steps {
  readonly way: 'sign' | 'roll' | 'unsign';
  /** Index of the current step. */
  readonly at: number;
}

/** Undefined if no change is in progress. */
export function stepsOf({
  status,
  keys,
  registrar,
}: Pick<Dnssec, 'status' | 'keys' | 'registrar'>): Steps | undefined {
  switch (status) {
    case 'signing':
      return { way: 'sign', at: 0 };
    case 'waiting':
      return { way: 'sign', at: 1 };
    case 'ds_wanted':
      return { way: 'sign', at: 2 };
    case 'secure':
      return { way: 'sign', at: 4 };
    case 'rolling':
      return { way: 'roll', at: rollStep(keys, registrar.action) };
    case 'ds_removal':
      return { way: 'unsign', at: registrar.action === 'wait' ? 1 : 0 };
    case 'unsigning':
      return { way: 'unsign', at: 2 };
    case 'off':
    case 'broken':
    case 'verbatim':
      return undefined;
    default:
      return status satisfies never;
  }
}

/** Publishes the new key, replaces the DS records, removes the old key. */
function rollStep(keys: Dnssec['keys'], action: Dnssec['registrar']['action']): number {
  if (action === 'add' || action === 'replace' || action === 'remove') return 1;
  const isNewReady = keys.some(({ state, ds }) => state === 'signing' && (ds === 'seen' || ds === 'none'));
  const isOldLeaving = keys.some(({ state }) => state === 'retiring');
  const isNewComing = keys.some(({ state }) => state === 'made' || state === 'published');
  return isNewReady && isOldLeaving && !isNewComing ? 2 : 0;
}

/** Returns the actions that this state allows. The service may still refuse them. */
export function actionsFor({
  status,
}: Pick<Dnssec, 'status'>): readonly ('enable' | 'roll' | 'disable' | 'abort')[] {
  switch (status) {
    case 'off':
      return ['enable'];
    case 'signing':
    case 'waiting':
    case 'ds_wanted':
      return ['abort', 'disable'];
    case 'secure':
      return ['roll', 'disable'];
    case 'broken':
      return ['roll', 'disable'];
    case 'rolling':
      return ['abort', 'disable'];
    case 'ds_removal':
    case 'unsigning':
      return ['abort'];
    case 'verbatim':
      return [];
    default:
      return status satisfies never;
  }
}

export interface DsFields {
  readonly keyTag: string;
  readonly algorithm: string;
  readonly digestType: string;
  readonly digest: string;
}

/** Returns the fields of a DS record in zone file format, or undefined if it is not one. */
export function dsFieldsOf(text: string): DsFields | undefined {
  const [keyTag, algorithm, digestType, ...digest] = text.trim().split(/\s+/);
  if (keyTag === undefined || algorithm === undefined || digestType === undefined || digest.length === 0)
    return undefined;
  return { keyTag, algorithm, digestType, digest: digest.join('') };
}
