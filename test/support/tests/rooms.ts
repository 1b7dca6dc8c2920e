// The table of the rooms: the order in which they stand is the order in which a reader may take them.

/**
 * The rooms, and what the files of each may import besides their own room. A row names only rooms of rows above it, so the
 * imports are a graph without circles. `dns` is the files directly in src/dns; `start` composes the processes by running them.
 */
export const MAY_IMPORT: Readonly<Record<string, string>> = {
  billing: '',
  dns: '',
  'dns/record': 'dns',
  'dns/message': 'dns dns/record',
  'dns/dnssec': 'dns dns/record',
  'dns/zone-file': 'dns dns/record dns/dnssec',
  zone: 'dns dns/message dns/record dns/dnssec',
  'edge/sets': 'dns zone',
  'zone/domain': 'dns zone',
  'zone/image': 'dns dns/dnssec dns/message dns/record zone',
  'zone/records': 'dns dns/record dns/zone-file zone',
  'zone/signing': 'dns dns/dnssec dns/record zone',
  'zone/verbatim': 'dns dns/dnssec dns/record zone zone/signing',
  'zone/edit': 'dns zone zone/domain zone/records',
  'zone/import': 'dns dns/record dns/zone-file zone zone/edit zone/records dns/dnssec',
  'zone/pool': 'dns dns/record',
  'zone/publish': 'dns dns/record zone zone/domain zone/records',
  edge: 'dns/record',
  'edge/certificates': '',
  'edge/analytics': '',
  'edge/purges': '',
  'edge/requests': 'dns/record',
  'edge/webhooks': 'dns/record edge',
  'edge/cached': '',
  'edge/uptime': '',
  'edge/rules': 'dns dns/record edge',
  'checks/validation': 'dns dns/dnssec dns/message dns/record',
  'checks/delegation': 'dns',
  'checks/claims': 'dns checks/delegation',
  'checks/shares': '',
  'checks/aname': 'dns checks/delegation',
  'checks/recommendations': '',
  'checks/child': 'dns dns/record checks/delegation',
  'checks/nameservers': 'dns',
  'checks/vantage': 'checks/child checks/claims checks/delegation',
  'checks/scan': 'dns dns/record checks/delegation',
  'checks/txt': 'dns checks/claims checks/delegation',
  'checks/dnssec': 'checks/validation dns dns/message dns/dnssec checks/delegation',
  process: 'zone/records checks/child',
  'process/settings': 'dns zone/pool process',
  queue: '',
  mail: '',
  'resolver/exchange': 'dns dns/message dns/record',
  'resolver/replies': 'dns dns/message dns/record checks/scan resolver/exchange',
  'resolver/state':
    'dns dns/record dns/zone-file checks/delegation checks/validation resolver/exchange checks/shares',
  'resolver/walk':
    'dns dns/message checks/delegation checks/txt resolver/exchange resolver/replies resolver/state',
  'resolver/aname': 'dns checks/aname checks/delegation resolver/replies resolver/state resolver/walk',
  'resolver/caa': 'dns edge/certificates resolver/state resolver/walk',
  'resolver/child': 'dns checks/child resolver/exchange resolver/replies resolver/state resolver/walk',
  'resolver/validation':
    'dns checks/delegation checks/validation resolver/replies resolver/state resolver/walk',
  'resolver/delegation':
    'dns checks/delegation checks/validation resolver/replies resolver/state resolver/validation resolver/walk',
  'resolver/nameservers': 'dns checks/nameservers resolver/replies resolver/state resolver/walk',
  'resolver/scan':
    'dns dns/record checks/delegation checks/scan resolver/replies resolver/state resolver/walk',
  'resolver/txt': 'dns checks/delegation checks/txt resolver/replies resolver/state resolver/walk',
  'resolver/dnssec':
    'checks/dnssec dns resolver/child resolver/state resolver/walk checks/validation resolver/validation',
  resolver:
    'dns checks/aname checks/delegation checks/nameservers checks/scan checks/txt resolver/aname resolver/delegation resolver/exchange resolver/nameservers resolver/scan resolver/state resolver/txt resolver/walk checks/child resolver/child checks/validation resolver/validation checks/dnssec resolver/dnssec dns/record edge/certificates resolver/caa',
  'analytics/migrations': '',
  analytics: 'analytics/migrations',
  'analytics/uptime': 'analytics',
  'outbound/acme': 'process',
  'outbound/payments': 'billing',
  'outbound/webhooks': 'dns/record edge/webhooks process',
  'analytics/requests': 'analytics billing edge/analytics',
  'analytics/dns': 'analytics analytics/requests edge/analytics',
  'store/postgres':
    'billing dns zone/domain zone/pool zone/records checks/delegation checks/txt process checks/validation edge',
  'store/rules': 'billing dns/record edge edge/rules zone zone/edit zone/records store/postgres',
  'store/accounts': 'billing store/postgres checks/shares',
  'store/tickets': 'billing store/postgres',
  'store/audit': 'store/accounts store/postgres',
  'store/money': 'billing store/audit store/postgres',
  'store/secrets': 'process store/postgres',
  'store/keys': 'dns dns/dnssec process zone zone/signing store/postgres store/secrets',
  'store/people': 'store/accounts store/postgres store/secrets',
  'store/sharing': 'dns zone/domain store/accounts store/postgres',
  'store/anchors': 'checks/validation store/postgres',
  'store/nameservers': 'dns zone/pool store/postgres',
  'store/feed': 'dns zone store/postgres',
  'store/records':
    'dns dns/record zone zone/domain zone/edit zone/publish zone/records checks/aname store/accounts store/postgres store/rules',
  'store/child': 'dns checks/child store/postgres',
  'store/domains':
    'dns zone/domain zone/publish checks/aname checks/child checks/claims checks/delegation store/accounts store/postgres store/records checks/txt billing checks/dnssec',
  'store/roles': 'store/postgres',
  'store/zones':
    'dns dns/dnssec dns/record checks/delegation zone zone/publish zone/signing store/keys store/postgres',
  'store/claims': 'dns checks/claims store/domains store/nameservers store/postgres',
  'store/publish':
    'dns zone zone/domain zone/publish zone/records zone/signing store/domains store/keys store/postgres store/records store/zones',
  'store/change':
    'billing dns zone zone/domain zone/edit zone/publish zone/records checks/claims checks/delegation store/accounts store/claims store/domains store/postgres store/records store/zones zone/pool store/audit store/keys store/publish dns/record store/rules',
  'store/purchases': 'billing store/accounts store/change store/money store/postgres store/rules',
  'store/signing':
    'dns zone zone/publish zone/signing store/accounts store/change store/keys store/postgres store/zones store/feed dns/dnssec',
  'store/handover': 'store/accounts store/change store/claims store/domains store/postgres',
  'store/aname':
    'dns zone/publish zone/records checks/aname checks/delegation store/change store/postgres store/records store/zones',
  'store/checks':
    'dns zone/domain zone/publish checks/claims checks/delegation checks/shares store/change store/claims store/domains store/people store/postgres',
  'store/vantage': 'dns checks/delegation store/checks store/postgres',
  'store/counts': 'store/postgres',
  'store/housekeeping':
    'store/counts dns dns/record zone store/accounts store/claims store/domains store/postgres store/publish store/records store/vantage store/keys',
  'store/events': 'zone/domain store/accounts store/checks store/postgres',
  'store/certificates':
    'edge store/postgres store/secrets dns edge/certificates zone zone/records store/change store/checks store/domains store/records',
  'store/purges': 'edge/purges store/postgres',
  'store/webhooks': 'dns/record zone edge/webhooks store/postgres store/secrets',
  'store/uptime': 'zone edge/uptime store/postgres store/webhooks',
  'store/edges':
    'billing edge edge/certificates store/accounts store/audit store/certificates store/change store/domains store/feed store/postgres store/rules',
  'store/cached': 'edge/cached edge/purges edge/requests store/edges store/postgres',
  'store/migrate':
    'store/cached dns zone zone/publish zone/signing process store/change store/domains store/keys store/postgres store/publish store/records store/roles store/zones',
  'store/scans':
    'dns zone/edit zone/records checks/scan checks/shares store/accounts store/change store/postgres',
  'store/verifications':
    'dns dns/record zone/domain checks/delegation checks/txt store/change store/domains store/people store/postgres store/checks',
  'store/regions': 'dns edge/sets store/keys store/postgres store/signing zone zone/signing',
  'store/recommendations': 'checks/recommendations dns store/postgres zone',
  'store/dnssec':
    'checks/dnssec dns dns/dnssec store/accounts store/change store/checks store/domains store/feed store/keys store/postgres store/signing zone/records zone/signing zone',
  'store/resellers':
    'billing store/accounts store/audit store/change store/dnssec store/money store/postgres store/purchases',
  'nameserver/counts': 'dns',
  'nameserver/answer': 'nameserver/counts dns dns/message dns/record zone zone/image',
  'nameserver/threads': '',
  'nameserver/snapshot': 'dns zone zone/image process store/feed nameserver/threads',
  'nameserver/follow':
    'nameserver/answer nameserver/counts dns zone zone/image process store/feed store/migrate store/postgres nameserver/snapshot nameserver/threads',
  'nameserver/udp': 'nameserver/counts dns/record zone/image process nameserver/answer nameserver/threads',
  'nameserver/tcp': 'process nameserver/answer nameserver/threads nameserver/udp',
  nameserver:
    'dns/message zone/image process process/settings store/postgres nameserver/answer nameserver/counts nameserver/follow nameserver/tcp nameserver/threads nameserver/udp',
  'api/answers': 'billing',
  'api/edge': 'process store/edges store/postgres store/purges',
  'api/requests': 'analytics edge/requests edge/uptime process store/edges store/postgres api/answers',
  'api/people': 'process store/accounts store/people store/postgres store/secrets api/answers store/audit',
  'api/callers':
    'billing store/resellers store/edges store/vantage dns zone zone/edit process store/accounts store/postgres api/answers store/people api/people',
  'api/events': 'process store/checks store/events store/feed store/postgres api/edge',
  'api/public':
    'api/callers checks/delegation dns dns/record process resolver resolver/exchange resolver/state zone/domain',
  'api/calls':
    'billing api/public api/events api/requests analytics store/cached api/edge dns zone/domain zone/records queue store/accounts store/domains store/postgres api/answers api/callers api/people zone store/audit dns/record',
  'api/analytics': 'analytics analytics/requests store/accounts api/answers api/calls',
  'api/schemas':
    'edge/requests checks/recommendations store/edges store/sharing zone/domain zone/edit zone/records checks/child checks/delegation checks/txt api/answers api/callers store/accounts store/audit billing checks/dnssec edge edge/rules edge/certificates edge/webhooks edge/cached store/cached edge/analytics',
  'api/actions':
    'store/vantage dns zone/edit zone/records store/change store/feed store/postgres store/scans api/answers api/callers api/calls checks/shares billing',
  'api/body': 'api/answers api/calls',
  'api/print':
    'store/events api/events store/money store/tickets billing dns dns/record zone zone/domain zone/publish zone/records checks/delegation checks/scan store/accounts store/checks store/child store/domains store/feed store/postgres store/records store/scans store/verifications api/callers api/schemas store/audit checks/dnssec dns/dnssec store/dnssec store/keys edge edge/rules store/rules edge/certificates store/certificates',
  'api/pages': 'billing',
  'api/console': 'process queue api/answers api/calls api/pages',
  'api/description': 'api/calls api/schemas',
  'api/lists':
    'store/postgres api/answers api/calls api/print api/schemas store/records store/audit store/tickets',
  'api/routes':
    'api/public store/events api/events analytics/dns dns/message api/requests api/edge store/certificates store/edges process store/sharing dns dns/record dns/zone-file zone zone/domain zone/edit zone/import zone/publish zone/records store/accounts store/change store/checks store/domains store/feed store/nameservers store/postgres store/records store/scans store/verifications store/zones api/actions api/answers api/body api/callers api/calls api/lists api/print api/schemas store/child store/vantage checks/delegation checks/shares billing api/people store/people store/audit store/dnssec checks/dnssec store/keys store/signing edge edge/rules store/rules edge/certificates checks/recommendations store/recommendations edge/purges store/purges edge/webhooks store/webhooks edge/cached store/cached analytics/requests api/analytics edge/analytics edge/requests edge/uptime store/uptime store/purchases store/money api/pages store/tickets store/resellers',
  'api/large': 'process store/postgres api/answers api/body api/calls api/routes store/secrets dns/record',
  'api/http':
    'api/events store/resellers api/requests dns/record process store/accounts store/people store/postgres api/answers api/body api/callers api/calls api/large api/people store/keys',
  api: 'api/public resolver/state api/events api/console outbound/payments api/requests analytics store/cached api/edge process process/settings queue store/accounts store/migrate store/postgres store/secrets api/answers api/callers api/calls api/http api/large api/people api/routes api/description dns/record',
  'cli/terminal':
    'dns zone zone/domain queue resolver resolver/exchange resolver/state store/accounts store/migrate store/postgres store/audit process/settings store/secrets dns/record',
  'cli/account':
    'billing store/accounts store/postgres cli/terminal zone/edit process store/people store/audit',
  'cli/check':
    'dns dns/message dns/record zone zone/pool checks/delegation store/checks store/postgres cli/terminal checks/child process process/settings',
  'cli/domain':
    'checks/delegation dns zone zone/domain queue store/accounts store/change store/checks store/domains store/handover store/postgres store/verifications cli/terminal billing process store/sharing store/audit store/dnssec',
  'cli/certificates': 'edge/certificates store/certificates zone cli/domain cli/terminal',
  'cli/cache': 'edge/purges store/cached store/purges zone cli/domain cli/terminal',
  'cli/analytics':
    'analytics analytics/dns analytics/requests billing dns dns/message edge/analytics store/accounts store/domains store/postgres zone cli/domain cli/terminal',
  'cli/edge': 'edge edge/sets zone/pool store/edges cli/domain cli/terminal',
  'cli/money':
    'billing store/accounts store/audit store/money store/postgres store/resellers store/tickets cli/terminal',
  'cli/nameservers': 'zone zone/pool checks/nameservers store/nameservers store/postgres cli/terminal',
  'cli/node': 'queue store/feed store/migrate store/roles cli/terminal',
  'cli/scan':
    'dns dns/record zone zone/records checks/scan process store/domains store/postgres store/scans cli/terminal',
  'cli/vantage': 'zone/pool checks/child checks/vantage process store/postgres store/vantage cli/terminal',
  'cli/zone':
    'dns dns/record dns/zone-file zone store/housekeeping store/postgres store/zones cli/terminal zone/verbatim',
  'cli/dnssec':
    'dns dns/dnssec dns/record store/keys store/postgres store/secrets store/signing cli/terminal checks/dnssec store/dnssec zone zone/signing cli/zone',
  'workers/vantage':
    'checks/child checks/claims checks/delegation checks/shares checks/vantage store/postgres store/vantage',
  'workers/rounds':
    'analytics analytics/dns analytics/requests analytics/uptime store/people store/counts store/cached store/edges checks/child checks/vantage store/vantage dns/dnssec zone/pool checks/delegation checks/nameservers checks/validation resolver store/anchors store/checks store/housekeeping store/nameservers store/postgres store/migrate resolver/state store/accounts dns checks/claims checks/shares store/claims store/zones billing store/change store/keys store/signing store/dnssec store/regions store/uptime store/money',
  'workers/jobs':
    'dns zone/records checks/delegation checks/claims checks/aname checks/child checks/scan checks/txt process queue mail resolver store/postgres store/people store/child store/zones store/claims store/change store/aname store/checks store/scans store/verifications workers/vantage workers/rounds checks/shares zone store/sharing checks/dnssec store/dnssec edge/certificates outbound/acme store/certificates store/edges store/feed dns/record edge/webhooks outbound/webhooks store/webhooks',
  'workers/metrics': 'queue store/change store/checks store/money workers/jobs workers/rounds store/signing',
  workers:
    'analytics zone/records checks/delegation process process/settings queue resolver resolver/exchange resolver/state store/accounts store/aname store/checks store/migrate store/postgres store/scans store/verifications checks/child store/child checks/shares workers/rounds workers/vantage zone/domain store/people mail workers/jobs workers/metrics store/secrets checks/dnssec store/dnssec store/signing store/regions dns/record outbound/acme store/certificates store/webhooks store/cached analytics/uptime',
  'workers/observer':
    'workers/metrics dns zone/domain checks/delegation process process/settings resolver resolver/exchange resolver/state workers dns/record',
  'start/postgres': 'process store/roles',
  'start/npm': '',
  'start/console': 'start/npm',
  'start/analytics': 'process start/npm',
  'start/demo':
    'dns dns/zone-file zone zone/edit zone/image nameserver/answer process resolver/exchange store/accounts store/change store/checks store/dnssec store/domains store/migrate store/postgres store/records',
  start:
    'start/analytics start/console start/demo dns zone/edit process process/settings queue store/accounts store/change store/domains store/migrate store/postgres store/records store/roles start/postgres store/people store/secrets',
  cli: 'cli/money process/settings cli/account cli/check cli/domain cli/nameservers cli/node cli/scan cli/terminal cli/vantage cli/zone start cli/dnssec cli/edge cli/certificates cli/cache cli/analytics',
};
