// The DNSKEY set of a domain at another operator's servers: the set of each server, and the keys that count.

import type { Message } from '../../dns/message/message.ts';
import type { Name } from '../../dns/name.ts';
import { TYPE } from '../../dns/type-codes.ts';
import { ValidationBudget } from '../validation/budget.ts';
import { setAt } from '../validation/signed-sets.ts';
import { usableDs, validateKeys } from '../validation/zone-keys.ts';

interface TheirServer {
  readonly address: string;
  /** DNSKEY rdata of the set, validated with the DS. Undefined if there is none. */
  readonly keys: readonly Uint8Array[] | undefined;
  readonly ttl: number;
  /** True if it did not answer. */
  readonly isSilent: boolean;
  readonly error: string | undefined;
}

export interface TheirEvidence {
  readonly servers: readonly TheirServer[];
  /** Why no server was queried. */
  readonly failure: string | undefined;
}

type TheirKeys =
  | {
      readonly kind: 'found';
      readonly keys: readonly Uint8Array[];
      readonly ttl: number;
      /** True if all servers show the same set. */
      readonly isSame: boolean;
    }
  | { readonly kind: 'failed'; readonly message: string };

/** Servers that many resolvers cannot reach must not block a domain forever. */
const MAX_SILENT_SHARE = 0.25;

/** `at` is in seconds since 1970. `ds` is what the parent shows or will show. */
export function readTheirKeys(
  domain: Name,
  { address, message }: { readonly address: string; readonly message: Message | undefined },
  ds: readonly Uint8Array[],
  at: number,
): TheirServer {
  const nothing = { address, keys: undefined, ttl: 0, isSilent: false };
  if (message === undefined) return { ...nothing, isSilent: true, error: 'it did not answer' };
  const set = message.aa ? setAt(message.answers, domain, TYPE.DNSKEY) : undefined;
  if (set === undefined) return { ...nothing, error: 'it returns no DNSKEY records' };
  const usable = usableDs(ds);
  if (usable.length === 0) return { ...nothing, error: 'the parent has no DS record that resolvers can use' };
  const validated = validateKeys(set, usable, { at, budget: new ValidationBudget() });
  if (validated.kind !== 'secure') return { ...nothing, error: validated.reason };
  return { ...nothing, keys: set.rdata, ttl: set.ttl, error: undefined };
}

/** Returns the keys that all servers show. A key that one of them lacks cannot be used. */
export function judgeTheirKeys({ servers, failure }: TheirEvidence): TheirKeys {
  if (failure !== undefined) return { kind: 'failed', message: failure };
  const heard = servers.filter(({ isSilent }) => !isSilent);
  const silent = servers.length - heard.length;
  const [first] = heard;
  if (first === undefined || silent > MAX_SILENT_SHARE * servers.length)
    return { kind: 'failed', message: `${silent} of ${servers.length} addresses did not answer` };
  const wrong = heard.find(({ keys }) => keys === undefined);
  if (wrong !== undefined)
    return { kind: 'failed', message: `the keys at ${wrong.address} do not verify: ${wrong.error}` };
  const texts = heard.map(({ keys = [] }) => new Set(keys.map(textOf)));
  const keys = (first.keys ?? []).filter((key) => texts.every((set) => set.has(textOf(key))));
  const isSame = texts.every(({ size }) => size === new Set(keys.map(textOf)).size);
  return { kind: 'found', keys, ttl: Math.max(...heard.map(({ ttl }) => ttl)), isSame };
}

function textOf(rdata: Uint8Array): string {
  return Buffer.from(rdata).toString('base64');
}
