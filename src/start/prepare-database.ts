// Prepares the database of `npm start`: migration, roles, the demo, and the first admin's key.

import { parseName } from '../dns/name.ts';
import { QUEUES } from '../features/every-feature.ts';
import { migrate } from '../features/migrate.ts';
import { migrateQueue } from '../jobs/connection.ts';
import { hidePasswords } from '../process/hide-passwords.ts';
import { linkTo } from '../process/public-link.ts';
import { StartFault } from '../process/start-fault.ts';
import { createFirstAdminKey, ensureFirstAdmin } from '../store/accounts/first-admin.ts';
import { findDomain } from '../store/domains/load-domains.ts';
import { loadSampleApex } from '../store/migrate/first-start.ts';
import { makeLink } from '../store/people/credentials.ts';
import type { GivenAnswerSettings } from '../store/postgres/answer-settings.ts';
import { type Database, openDatabase } from '../store/postgres/database.ts';
import { loadRecordsAt } from '../store/records/load-touched-records.ts';
import { setRolePasswords } from '../store/roles/roles.ts';
import { KeyBoxes, type KeySecret, useKeyBoxes } from '../store/secrets/key-boxes.ts';
import { DEMO_APEX, DEMO_NAME, loadDemoOnce } from './demo.ts';
import { openToRoles, type RoleUrls, roleUrls } from './role-urls.ts';

interface DatabaseSettings {
  /** Undefined for the embedded database. */
  readonly databaseUrl: string | undefined;
  readonly redisUrl: string | undefined;
  readonly rolePasswords: Readonly<Record<string, string>>;
  readonly answers: GivenAnswerSettings;
  readonly keySecrets: readonly KeySecret[];
  /** Called with each role that has more privileges than needed. */
  readonly onOverpowered: (role: string) => void;
  /** Called when the migration waits for a table that other sessions use. */
  readonly onWait: (reason: string) => void;
}

export interface Samples {
  /** Name and type for the `dig` line. */
  readonly question: string;
  /** Explains a surprising answer. Undefined if there is nothing to explain. */
  readonly remark: string | undefined;
  /** Path for the `curl` line. */
  readonly path: string;
}

/** Creates what is missing in the database: schema, roles and demo. */
export async function prepareDatabase(
  url: string,
  settings: DatabaseSettings,
): Promise<{ samples: Samples; roles: RoleUrls }> {
  const db = openDatabase(url);
  useKeyBoxes(db, new KeyBoxes(settings.keySecrets)); // changes that follow from settings are also published in signed domains
  try {
    await migrateQueue({ databaseUrl: url, redisUrl: settings.redisUrl }, QUEUES);
    const migrated = await migrate(db, settings.answers, { onWait: settings.onWait });
    migrated.roles.overpowered.forEach(settings.onOverpowered);
    const roles =
      settings.databaseUrl === undefined ? await openToRoles(db, url) : await rolesOf(db, url, settings);
    await loadDemoOnce(db, settings.answers.edgeIpv4.length > 0);
    const apex = await loadSampleApex(db, DEMO_APEX);
    // In databases that are older than customers' domains, an operator zone has this name.
    const demo = await findDomain(db, parseName(DEMO_APEX));
    const isAskedForDemo = apex === DEMO_APEX;
    const atName = demo === undefined ? [] : await loadRecordsAt(db, demo.id, [parseName(`${DEMO_NAME}.`)]);
    const isProxied = isAskedForDemo && atName.some(({ proxied }) => proxied);
    const samples = {
      question: apex === undefined ? 'CH TXT id.server' : isAskedForDemo ? `${DEMO_NAME} A` : `${apex} SOA`,
      remark: isProxied ? "this record is proxied, so the answer has the edge's addresses" : undefined,
      path: demo === undefined ? '/domains/' : `/domains/${DEMO_APEX.slice(0, -1)}/records/`,
    };
    return { samples, roles };
  } catch (error) {
    if (settings.databaseUrl === undefined) throw error;
    // If several addresses all fail, Node's error has no message of its own.
    const { message, code } = error as NodeJS.ErrnoException;
    throw new StartFault(`DATABASE_URL: ${hidePasswords(message || `cannot reach the server (${code})`)}`);
  } finally {
    await db.destroy();
  }
}

/** On an operator's own server, the operator chooses the roles' passwords. */
async function rolesOf(db: Database, url: string, { rolePasswords }: DatabaseSettings): Promise<RoleUrls> {
  await setRolePasswords(db, rolePasswords);
  return roleUrls(url, rolePasswords);
}

export interface FirstSecrets {
  readonly key: string;
  /** One-time sign-in link for the first admin. */
  readonly link: string;
}

/** Creates the first key. Call it as the last step, so that the key is printed. Returns undefined if there already is a key. */
export async function makeFirstSecrets(url: string, publicUrl: string): Promise<FirstSecrets | undefined> {
  const db = openDatabase(url, { maxConnections: 1 });
  try {
    const key = await createFirstAdminKey(db);
    if (key === undefined) return undefined;
    const accountId = await ensureFirstAdmin(db);
    return { key, link: linkTo(publicUrl, 'sign-in', await makeLink(db, { kind: 'sign-in', accountId })) };
  } finally {
    await db.destroy();
  }
}
