// What `npm start` prints once all is ready: where everything listens, what is shown once, and lines to try.

import { type ListenAddress, printListenAddress } from '../process/listen-address.ts';
import type { FirstSecrets, Samples } from './prepare-database.ts';

interface Started extends Samples {
  readonly addresses: readonly ListenAddress[];
  readonly api: readonly ListenAddress[];
  readonly metrics: readonly ListenAddress[];
  /** The demo's. */
  readonly registrar: string | undefined;
  readonly place: string;
  readonly first: FirstSecrets | undefined;
  readonly shownKey: string;
  readonly publicUrl: string;
  readonly hasConsole: boolean;
  readonly secrets: { readonly file: string; readonly isNew: boolean } | undefined;
}

export function summary(started: Started): string {
  const dns = reachable(started.addresses[0] as ListenAddress);
  const api = `http://${printListenAddress(reachable(started.api[0] as ListenAddress))}`;
  const urls = (addresses: readonly ListenAddress[], path = '') =>
    addresses.map((address) => `http://${printListenAddress(address)}${path}`).join(' ');
  return [
    'ready',
    `  DNS       ${started.addresses.map(printListenAddress).join(' ')} (UDP and TCP)`,
    `  API       ${urls(started.api)} (described at /openapi.yaml)`,
    ...(started.hasConsole ? [`  console   ${started.publicUrl}/console/`] : []),
    `  metrics   ${urls(started.metrics, '/metrics')} (and /healthz, /readyz)`,
    ...(started.registrar === undefined
      ? []
      : [`  registrar ${started.registrar} (of the demo's private internet: enter nameservers there)`]),
    `  database  ${started.place}`,
    ...(started.first === undefined
      ? started.hasConsole
        ? ['  sign in   npx zonefleet account sign-in EMAIL prints a link for an account without a password']
        : []
      : [
          `  API key   ${started.first.key} (a global admin's, shown this once)`,
          `  sign in   ${started.first.link} (the same admin, once, within 15 minutes)`,
        ]),
    ...(started.secrets?.isNew === true
      ? [`  secrets   ${started.secrets.file} seals stored secrets: back it up, apart from the database`]
      : []),
    `  try       dig @${dns.address} -p ${dns.port} ${started.question}`,
    ...(started.remark === undefined ? [] : [`            (${started.remark})`]),
    `            curl -H "Authorization: Bearer ${started.shownKey}" ${api}${started.path}`,
    '  stop      Ctrl-C',
  ].join('\n');
}

/** Where a process that listens on every address can be asked. */
function reachable({ address, port }: ListenAddress): ListenAddress {
  return { address: address === '0.0.0.0' ? '127.0.0.1' : address === '::' ? '::1' : address, port };
}
