// Peers of the fleet, and the default policy that lets them transfer every zone.

import { type Database, openDatabase } from '../../src/store/postgres/database.ts';
import { createKey } from '../../src/store/transfers/keys.ts';
import { addPeer } from '../../src/store/transfers/peers.ts';
import { DEFAULT_POLICY, setPolicy } from '../../src/store/transfers/policies.ts';
import type { TransferKey } from '../../test/support/peers/transfer-peers.ts';
import { runOn } from '../postgres/cluster.ts';

const ALGORITHM = 'hmac-sha256';
const SEALING_SECRET = { name: 'bench', secret: Buffer.alloc(32, 1) };
/** The setting TSIG_SECRETS. */
export const TSIG_SECRETS = `${SEALING_SECRET.name}:${SEALING_SECRET.secret.toString('base64')}`;

export type BenchKey = TransferKey & { readonly algorithm: typeof ALGORITHM };

interface Notified {
  /** Ports of 127.0.0.1. */
  readonly ports: readonly number[];
  /** True if the messages are signed. */
  readonly isSigned: boolean;
}

/**
 * Replaces all peers. Lets every client on this machine transfer, also one that signs with the returned key, and sends
 * NOTIFY to the ports.
 */
export async function replacePeers(url: string, notified?: Notified): Promise<BenchKey> {
  await removePeers(url);
  return await withDatabase(url, async (db) => {
    const made = await createKey(db, [SEALING_SECRET], {
      label: 'bench',
      accountId: null,
      algorithm: ALGORITHM,
    });
    if (made.kind !== 'stored') throw new Error(`the key is not stored: ${made.kind}`);
    const { name, id } = made.key;
    const networks = ['127.0.0.0/8'];
    await addPeer(db, { name: 'unsigned', addresses: [], port: 53, networks, keyId: null });
    await addPeer(db, { name: 'signed', addresses: [], port: 53, networks, keyId: id });
    const names: string[] = [];
    for (const port of notified?.ports ?? []) {
      names.push(`to${port}`);
      const keyId = notified?.isSigned ? id : null;
      await addPeer(db, { name: `to${port}`, addresses: ['127.0.0.1'], port, networks, keyId });
    }
    await setPolicy(db, {
      name: DEFAULT_POLICY,
      transfers: ['signed', 'unsigned', ...names],
      notified: names,
    });
    return { name, algorithm: ALGORITHM, secret: Buffer.from(made.secret).toString('base64') };
  });
}

/** Adds a server that zones are copied from. */
export async function addPrimary(db: Database, name: string, port: number): Promise<number> {
  const id = await addPeer(db, { name, addresses: ['127.0.0.1'], port, networks: [], keyId: null });
  if (id === undefined) throw new Error(`a peer ${name} already exists`);
  return id;
}

export async function removePeers(url: string): Promise<void> {
  await runOn(
    url,
    ...['policy_peers', 'transfer_policies', 'secondaries', 'peers', 'tsig_keys'].map(
      (table) => `delete from ${table}`,
    ),
  );
}

async function withDatabase<T>(url: string, use: (db: Database) => Promise<T>): Promise<T> {
  const db = openDatabase(url);
  try {
    return await use(db);
  } finally {
    await db.destroy();
  }
}
