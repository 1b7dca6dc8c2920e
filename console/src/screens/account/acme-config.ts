// Configurations of certificate clients with an API key, as in docs/tools.

export const ACME_TOOLS = ['lego', 'certbot', 'cert-manager', 'traefik', 'caddy', 'dehydrated'] as const;
export type AcmeTool = (typeof ACME_TOOLS)[number];

interface Asked {
  /** Origin of the API. */
  readonly api: string;
  readonly key: string;
  /** Names in the certificate. */
  readonly names: readonly string[];
  readonly email: string;
}

interface Lines {
  /** Name of the file. Undefined for a command. */
  readonly file?: string;
  readonly text: string;
}

const CONFIGS: Readonly<Record<AcmeTool, (asked: Asked) => Lines[]>> = {
  lego: ({ api, key, names, email }) => [
    { file: 'lego.env', text: httpreq('export ', api, key) },
    {
      text: `lego --accept-tos --email ${email} --dns httpreq ${names.map((name) => `--domains ${quoted(name)}`).join(' ')} run`,
    },
  ],
  certbot: ({ api, key, names }) => [
    { file: 'pdns.ini', text: `dns_powerdns_api_url = ${api}\ndns_powerdns_api_key = ${key}\n` },
    {
      text: `certbot certonly --authenticator dns-powerdns --dns-powerdns-credentials pdns.ini ${names.map((name) => `-d ${quoted(name)}`).join(' ')}`,
    },
  ],
  'cert-manager': ({ api, key }) => [
    { text: `kubectl -n cert-manager create secret generic zonefleet --from-literal=key=${key}` },
    {
      file: 'issuer.yaml',
      text: `solvers:
  - dns01:
      webhook:
        groupName: acme.zacharyseguin.ca
        solverName: pdns
        config:
          host: ${api}
          apiKeySecretRef: { name: zonefleet, key: key }
          ttl: 120
`,
    },
  ],
  traefik: ({ api, key, email }) => [
    { file: 'traefik.env', text: httpreq('', api, key) },
    {
      file: 'traefik.yml',
      text: `certificatesResolvers:
  zonefleet:
    acme: {email: ${email}, storage: /etc/traefik/acme.json, dnsChallenge: {provider: httpreq}}
`,
    },
  ],
  caddy: ({ api, key, names }) => [
    { text: 'xcaddy build --with github.com/caddy-dns/acmeproxy' },
    {
      file: 'Caddyfile',
      text: `${names.join(', ')} {
	tls {
		dns acmeproxy ${api}/httpreq {
			username x
			password ${key}
		}
	}
}
`,
    },
  ],
  dehydrated: ({ api, key, names }) => [
    {
      file: 'config',
      text: `CHALLENGETYPE=dns-01
HOOK=/usr/share/doc/lexicon/examples/dehydrated.default.sh
HOOK_CHAIN=yes
export PROVIDER=powerdns PROVIDER_UPDATE_DELAY=5
export LEXICON_POWERDNS_PDNS_SERVER=${api}
export LEXICON_POWERDNS_AUTH_TOKEN=${key}
`,
    },
    { file: 'domains.txt', text: `${names.join(' ')}\n` },
    { text: 'bash /usr/bin/dehydrated --config config --cron --accept-terms' },
  ],
};

export function acmeConfig(tool: AcmeTool, asked: Asked): Lines[] {
  return CONFIGS[tool](asked);
}

function httpreq(prefix: string, api: string, key: string): string {
  return [`HTTPREQ_ENDPOINT=${api}/httpreq`, 'HTTPREQ_USERNAME=x', `HTTPREQ_PASSWORD=${key}`]
    .map((line) => `${prefix}${line}\n`)
    .join('');
}

/** Prevents the shell from expanding a wildcard. */
function quoted(name: string): string {
  return name.startsWith('*') ? `'${name}'` : name;
}
