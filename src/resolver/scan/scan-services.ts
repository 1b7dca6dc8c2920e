// The names with an underscore that a scan tries (RFC 8552), and the types that it asks for at them.

import { labelsOf, type Name } from '../../dns/name.ts';
import { TYPE } from '../../dns/type-codes.ts';

/** Names directly below a domain. Those without records of their own show whether any name is below them (RFC 8020). */
export const SERVICE_NAMES: readonly string[] = [
  '_dmarc',
  '_domainkey',
  '_tcp',
  '_udp',
  '_tls',
  '_smtp._tls', // RFC 8460 §3
  '_mta-sts', // RFC 8461 §3.1
  'default._bimi',
  '_acme-challenge', // RFC 8555 §8.4: often an alias for good
  '_amazonses',
  '_atproto',
  '_dnslink',
  '_dnsauth',
  '_globalsign-domain-verification',
  '_github-pages-challenge',
  '_vercel',
  '_cf-custom-hostname',
  '_psl',
  '_validation-contactemail',
  '_spf',
  '_kerberos',
  '_msdcs',
  '_sites',
  '_domainconnect',
  '_discord',
  '_keybase',
  '_twilio',
  '_xmppconnect', // XEP-0156 §2.1
  '_gitlab-pages-verification-code',
  '_netblocks',
  '_acme-challenge.www',
  '_443._tcp.www',
  '_webflow',
  'asuid',
  'asuid.www',
];

/** The verification names of an account that is often named like the domain. */
export function accountNames(brand: string): string[] {
  return [
    `_github-challenge-${brand}`,
    `_github-challenge-${brand}-org`,
    `_gh-${brand}-o`,
    `_github-pages-challenge-${brand}`,
  ];
}

const TCP = `_sip _sips _sipfederationtls _sipinternaltls _xmpp-client _xmpp-server _xmpps-client _jabber _autodiscover
  _imap _imaps _pop3 _pop3s _submission _submissions _smtp _caldav _caldavs _carddav _carddavs _ldap _ldaps _kerberos
  _kpasswd _gc _matrix _matrix-fed _h323cs _stun _stuns _turn _turns _minecraft _ts3 _http _https _ftp _ssh _nfs
  _mongodb _etcd-server _collab-edge _cisco-uds _vlmcs _jmap _sieve _rdp _radsec _kerberos-adm _kerberos-master _hkp _hkps
  _pgpkey-https _sipinternal _citrixreceiver _mysql _postgresql _mqtt _amqp _x-puppet _tsdns _25 _443`;
const UDP = `_sip _sips _kerberos _kpasswd _stun _turn _ntp _ts3 _minecraft _h323ls _h323rs _iax _radius _mumble _ldap
  _xmpp-client _stuns _turns _kerberos-master _afs3-vlserver _afs3-prserver _443 b._dns-sd lb._dns-sd`;
/** A host has fewer services than a domain, and certificates of its ports. */
const TCP_OF_HOST = `_25 _443 _465 _587 _993 _995 _143 _110 _sip _sips _xmpp-client _xmpp-server _ldap _kerberos _kpasswd _gc
  _caldavs _carddavs _imaps _submission _submissions _autodiscover _minecraft _http _https _matrix`;

const SITE = 'default-first-site-name';
/** The names below `_msdcs` that an Active Directory registers for its controllers. */
export const AD_SERVICES: readonly string[] = [
  '_ldap._tcp.dc',
  '_kerberos._tcp.dc',
  '_ldap._tcp.gc',
  '_ldap._tcp.pdc',
  'gc',
];

const BELOW: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries({
    _tcp: words(TCP),
    _udp: words(UDP),
    _tls: ['_sip', '_sipfederationtls', '_smtp', '_sips', '_collab-edge'],
    _msdcs: [
      ...AD_SERVICES,
      `_ldap._tcp.${SITE}._sites.dc`,
      `_kerberos._tcp.${SITE}._sites.dc`,
      `_ldap._tcp.${SITE}._sites.gc`,
    ],
    _sites: [`_ldap._tcp.${SITE}`, `_kerberos._tcp.${SITE}`, `_gc._tcp.${SITE}`],
  }),
);
const PROTOCOLS: ReadonlySet<string> = new Set(['_tcp', '_udp', '_tls']);

/** The names below `_tcp` and its like, of a host or of a whole domain. */
export function servicesBelow(label: string, { isHost }: { readonly isHost: boolean }): readonly string[] {
  return isHost && label === '_tcp' ? words(TCP_OF_HOST) : (BELOW.get(label) ?? []);
}

/** Names that are never pruned: such a service may stand below a name that a server wrongly denies (RFC 8020 §2). */
export const SURE_SERVICES: readonly string[] = ['_autodiscover._tcp', '_sip._tls', '_sipfederationtls._tcp'];

export function isContainer(label: string): boolean {
  return label === '_domainkey' || BELOW.has(label);
}

export interface Wanted {
  /** The type of the first question: it tells whether the name exists, what it has, or where it leads. */
  readonly first: number;
  /** The types that the name may have besides. */
  readonly further: readonly number[];
}

const HOST: Wanted = { first: TYPE.A, further: [TYPE.AAAA, TYPE.MX, TYPE.TXT, TYPE.HTTPS] };
const TEXT: Wanted = { first: TYPE.TXT, further: [] };
const SERVICE: Wanted = { first: TYPE.SRV, further: [] };
const COLLECTION: Wanted = { first: TYPE.SRV, further: [TYPE.TXT] }; // its path (RFC 6764 §4)
const REALM: Wanted = { first: TYPE.TXT, further: [TYPE.URI] };
const CERTIFICATE: Wanted = { first: TYPE.TLSA, further: [] }; // RFC 6698 §3
const POINTER: Wanted = { first: TYPE.PTR, further: [] };

/** Hosts where people log in by SSH: if a zone uses RFC 4255 at all, it does so here. */
const SHELLS =
  /^(ssh|sftp|shell|login|git|gitlab|gitea|bastion|jump|jumphost|vps|server|srv|host|node|box)-?[0-9]*$/;
const TELEPHONY = /^(sip|sips|voip|pbx|enum|tel|phone|ims|h323|voice)[0-9]*$/;

const REVERSE = /\.(in-addr|ip6)\.arpa$/;

export function isReverseZone(domain: Name): boolean {
  return REVERSE.test(`.${labelsOf(domain).join('.')}`);
}

/** Tells which types a name is asked for, by its form. */
export function wantedAt(name: Name, { isReverse }: { readonly isReverse: boolean }): Wanted {
  if (isReverse) return POINTER;
  const labels = labelsOf(name);
  const [label = '', next = ''] = labels;
  if (labels.includes('_dns-sd')) return POINTER; // RFC 6763 §11
  if (!label.startsWith('_')) return next === '_domainkey' ? TEXT : hostWanted(label);
  if (/^_[0-9]+$/.test(label)) return CERTIFICATE;
  if (next === '_tls' && label === '_smtp') return TEXT;
  if (!PROTOCOLS.has(next)) return label === '_kerberos' ? REALM : TEXT;
  return /^_(cal|card)davs?$/.test(label) ? COLLECTION : SERVICE;
}

function hostWanted(label: string): Wanted {
  if (SHELLS.test(label)) return { ...HOST, further: [...HOST.further, TYPE.SSHFP] };
  if (TELEPHONY.test(label)) return { ...HOST, further: [...HOST.further, TYPE.NAPTR] };
  return HOST;
}

function words(text: string): string[] {
  return text.trim().split(/\s+/);
}
