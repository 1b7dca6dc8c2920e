// The settings files of a fleet on the machine of a runbook, and a customer with a domain.

import { randomBytes } from 'node:crypto';
import type { Machine } from './machine.ts';

/** Owner of the domain. */
export const OWNER = 'ann@shop.example';

/** Migrates the database as the documents describe, and starts nothing. `urlOf` returns the URL for a role. */
export async function prepareFleet(
  machine: Machine,
  urlOf: (role: string) => string,
  extra: Readonly<Record<string, string>> = {},
  domain = 'shop.example',
): Promise<void> {
  const secret = () => randomBytes(32).toString('base64');
  const shared = {
    KEY_SECRETS: `k1:${secret()}`,
    TSIG_SECRETS: `t1:${secret()}`,
    ALLOW_RESERVED_NAMES: 'on',
    ...extra,
  };
  const nameservers = { NAMESERVER_SETS: 'ns1.example.net,ns2.example.net' };
  machine.configure('cli', { DATABASE_URL: urlOf('zonefleet_owner'), ...nameservers, ...shared });
  await machine.shell('zonefleet migrate');
  machine.configure('nameserver', {
    DATABASE_URL: urlOf('zonefleet_node'),
    TSIG_SECRETS: shared.TSIG_SECRETS,
    COOKIE_SECRETS: randomBytes(16).toString('hex'),
  });
  machine.configure('api', { DATABASE_URL: urlOf('zonefleet_api'), ...shared });
  machine.configure('workers', { DATABASE_URL: urlOf('zonefleet_worker'), ...shared });
  await machine.shell(
    `zonefleet account create ${OWNER}; zonefleet domain create ${domain} --account ${OWNER} --no-scan`,
  );
}
