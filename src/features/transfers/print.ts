// Converts keys, secondaries and transfers to API resources and to fields of the audit log.

import type { z } from 'zod';
import type { Told } from '../../store/audit/tell-audit.ts';
import type { AuditNote } from '../../store/audit/write-audit.ts';
import { isInUse, type TsigKeyRow } from '../../store/transfers/keys.ts';
import type { StoredSecondary } from '../../store/transfers/peers.ts';
import type { PeerTransfers as StoredTransfers } from '../../store/transfers/status.ts';
import type { PeerTransfers, Secondaries, TsigKey } from './schema.ts';

/** Describes a key as the target of an action. */
export function keyNote(
  { id, accountId, name, algorithm, use }: TsigKeyRow,
  when: 'before' | 'after',
): AuditNote {
  const told = { algorithm, use };
  return { ...(accountId !== null && { accountId }), target: { id, name }, [when]: told };
}

export function printKeyRow(key: TsigKeyRow): z.input<typeof TsigKey> {
  const { id, name, algorithm, use, createdAt, lastUsedAt } = key;
  return {
    id,
    name,
    algorithm,
    imported: use === 'fetch',
    in_use: isInUse(key),
    created_at: createdAt.toISOString(),
    last_used_at: lastUsedAt?.toISOString() ?? null,
  };
}

export function printSecondary(peer: StoredSecondary): z.input<typeof Secondaries>['secondaries'][number] {
  const { id, addresses, port, networks, keyId, transfers, notified } = peer;
  return {
    id,
    addresses: [...addresses],
    port,
    networks: [...networks],
    tsig_key: keyId,
    transfer: transfers,
    notify: notified,
  };
}

/** Describes each secondary by one text, because the audit log limits the depth of its fields. */
export function toldSecondaries(peers: readonly StoredSecondary[]): Told {
  const secondaries = peers.map(({ addresses, port, networks, keyName, transfers, notified }) =>
    [
      ...(notified ? [`notify ${addresses.join(' ')} port ${port}`] : []),
      ...(transfers ? [`transfer from ${networks.join(' ') || 'any'}`] : []),
      ...(keyName === null ? [] : [`key ${keyName}`]),
    ].join(', '),
  );
  return { secondaries };
}

export function printTransfers(peer: StoredTransfers): PeerTransfers {
  return {
    transfer: peer.transfers,
    notify: peer.notified,
    notified_serial: peer.notifiedSerial,
    acknowledged_at: peer.ackedAt?.toISOString() ?? null,
    served_serial: peer.servedSerial,
    served_at: peer.servedAt?.toISOString() ?? null,
    form: peer.form,
    error: peer.error,
    lag_seconds: peer.lagSeconds,
  };
}
