// Proxied records whose origin edges may not connect to. An origin that an edit leaves as it was is not judged again.

import { printIpv4, printIpv6 } from '../../dns/record/ip-address.ts';
import type { Network } from '../../dns/record/network.ts';
import { judgeOrigin } from '../../edge/judge-origin.ts';
import type { EditProblem } from '../../zone/edit/edit.ts';
import type { RecordOperation } from '../../zone/edit/plan-edit.ts';
import type { RecordValue } from '../../zone/records/customer-record.ts';
import type { Database } from '../postgres/database.ts';
import { loadOwnEdges } from './own-edges.ts';

interface Problems {
  readonly kind: 'problems';
  readonly problems: readonly EditProblem[];
}

/** Undefined: there are none. */
export async function findWrongOrigins(
  db: Database,
  ops: readonly RecordOperation[],
  edges: Parameters<typeof loadOwnEdges>[1],
  allowed: readonly Network[],
): Promise<Problems | undefined> {
  const changed = ops.flatMap((op) => {
    if (op.op === 'delete' || op.item === undefined) return [];
    const address = addressOf(op.after);
    const isNew = op.op === 'create' || addressOf(op.before) !== address;
    return address !== undefined && isNew ? [{ address, item: op.item }] : [];
  });
  if (changed.length === 0) return undefined;
  const rules = { allowed, edges: await loadOwnEdges(db, edges) };
  const problems = changed.flatMap(({ address, item: { list, index, path } }): EditProblem[] => {
    const message = judgeOrigin(address, rules);
    return message === undefined
      ? []
      : [{ list, index, field: `${path}destination`, code: 'invalid', message: `${message}: ${address}` }];
  });
  return problems.length === 0 ? undefined : { kind: 'problems', problems };
}

/** The address of the origin; undefined where there is none, or only a name. */
function addressOf({ type, proxied, rdata }: RecordValue): string | undefined {
  if (!proxied) return undefined;
  if (type === 'A') return printIpv4(rdata);
  return type === 'AAAA' ? printIpv6(rdata) : undefined;
}
