// Prints the summary of `npm start` when everything is ready: addresses, first credentials, and commands to try.

import { type ListenAddress, printListenAddress } from '../process/listen-address.ts';
import { ENGINE_SIZE } from './analytics/install-engine.ts';
import type { FirstSecrets, Samples } from './prepare-database.ts';

interface Started extends Samples {
  readonly addresses: readonly ListenAddress[];
  readonly api: readonly ListenAddress[];
  readonly metrics: readonly ListenAddress[];
  /** Address of the demo's registrar page. Undefined without the demo. */
  readonly registrar: string | undefined;
  readonly place: string;
  readonly first: FirstSecrets | undefined;
  readonly shownKey: string;
  readonly publicUrl: string;
  readonly hasConsole: boolean;
  /** True if no analytics store is used, and the operator has not declined one. */
  readonly lacksAnalytics: boolean;
  /** The files of secrets that were created now. */
  readonly secretFiles: readonly string[];
}

export function summary(started: Started): string {
  const dns = reachable(started.addresses[0] as ListenAddress);
  const api = `http://${printListenAddress(reachable(started.api[0] as ListenAddress))}`;
  const urls = (addresses: readonly ListenAddress[], path = '') =>
    addresses.map((address) => `http://${printListenAddress(address)}${path}`).join(' ');
  return [
    'ready',
    `  DNS       ${started.addresses.map(printListenAddress).join(' ')} (UDP and TCP)`,
    `  API       ${urls(started.api)} (description: /openapi.yaml)`,
    ...(started.hasConsole ? [`  console   ${started.publicUrl}/console/`] : []),
    `  metrics   ${urls(started.metrics, '/metrics')} (and /healthz, /readyz)`,
    ...(started.registrar === undefined
      ? []
      : [`  registrar ${started.registrar} (of the demo: enter nameservers there)`]),
    `  database  ${started.place}`,
    ...(started.first === undefined
      ? started.hasConsole
        ? ['  sign in   npx zonefleet account sign-in EMAIL prints a link for an account without a password']
        : []
      : [
          `  API key   ${started.first.key} (of a global admin; shown only once)`,
          `  sign in   ${started.first.link} (for the same admin; works once, expires after 15 minutes)`,
        ]),
    ...started.secretFiles.map(
      (file) => `  secrets   ${file} encrypts stored secrets; back it up separately from the database`,
    ),
    ...(started.lacksAnalytics
      ? [`  analytics none (npm start -- --analytics downloads the engine, ${ENGINE_SIZE})`]
      : []),
    `  try       dig @${dns.address} -p ${dns.port} ${started.question}`,
    ...(started.remark === undefined ? [] : [`            (${started.remark})`]),
    `            curl -H "Authorization: Bearer ${started.shownKey}" ${api}${started.path}`,
    '  stop      Ctrl-C',
  ].join('\n');
}

/** Replaces a wildcard address with a loopback address. */
function reachable({ address, port }: ListenAddress): ListenAddress {
  return { address: address === '0.0.0.0' ? '127.0.0.1' : address === '::' ? '::1' : address, port };
}
