// Service names for made zones (SRV and what stands beside it), by the services that owners run.

export interface Service {
  /** As `name TYPE rdata`. `HOST` is a host of the zone's own; hosts that are named by hand are made as well. */
  readonly records: readonly string[];
  readonly host: string;
}

export const SERVICES: Readonly<Record<string, Service>> = {
  directory: {
    host: 'dc01',
    records: [
      '_ldap._tcp SRV 0 100 389 HOST',
      '_kerberos._tcp SRV 0 100 88 HOST',
      '_kerberos._udp SRV 0 100 88 HOST',
      '_kpasswd._tcp SRV 0 100 464 HOST',
      '_kpasswd._udp SRV 0 100 464 HOST',
      '_gc._tcp SRV 0 100 3268 HOST',
      '_ldap._tcp.dc._msdcs SRV 0 100 389 HOST',
      '_kerberos._tcp.dc._msdcs SRV 0 100 88 HOST',
      '_ldap._tcp.pdc._msdcs SRV 0 100 389 HOST',
      '_ldap._tcp.gc._msdcs SRV 0 100 3268 HOST',
    ],
  },
  telephony: {
    host: 'sip',
    records: [
      '_sip._udp SRV 10 50 5060 HOST',
      '_sip._tcp SRV 10 50 5060 HOST',
      '_sips._tcp SRV 10 50 5061 HOST',
      '_stun._udp SRV 0 0 3478 HOST',
      '_turn._udp SRV 0 0 3478 HOST',
      '@ NAPTR 10 10 "s" "SIP+D2U" "" _sip._udp.DOMAIN',
    ],
  },
  chat: {
    host: 'xmpp',
    records: [
      '_xmpp-client._tcp SRV 5 0 5222 HOST',
      '_xmpp-server._tcp SRV 5 0 5269 HOST',
      '_xmpps-client._tcp SRV 5 0 5223 HOST',
      'conference CNAME HOST',
    ],
  },
  matrix: {
    host: 'matrix',
    records: ['_matrix._tcp SRV 10 0 8448 HOST', '_matrix-fed._tcp SRV 10 0 8448 HOST'],
  },
  games: {
    host: 'mc',
    records: ['_minecraft._tcp SRV 0 5 25565 HOST', '_ts3._udp SRV 0 5 9987 HOST', 'play CNAME HOST'],
  },
  mail: {
    host: 'mail',
    records: [
      '_imap._tcp SRV 0 1 143 HOST',
      '_imaps._tcp SRV 0 1 993 HOST',
      '_pop3s._tcp SRV 10 1 995 HOST',
      '_submission._tcp SRV 0 1 587 HOST',
      '_submissions._tcp SRV 0 1 465 HOST',
      '_autodiscover._tcp SRV 0 1 443 HOST',
    ],
  },
  calendar: {
    host: 'dav',
    records: [
      '_caldav._tcp SRV 0 0 80 HOST',
      '_caldavs._tcp SRV 0 1 443 HOST',
      '_caldavs._tcp TXT "path=/dav/calendars"', // RFC 6764 §4
      '_carddav._tcp SRV 0 0 80 HOST',
      '_carddavs._tcp SRV 0 1 443 HOST',
    ],
  },
  licences: { host: 'kms', records: ['_vlmcs._tcp SRV 0 0 1688 HOST'] },
};
