// English texts of the frame of a domain.

export const domain = {
  pages: {
    delegation: 'Delegation',
    records: 'Records',
    history: 'History',
    dnssec: 'DNSSEC',
    secondaries: 'Secondaries',
    traffic: 'Traffic',
    rules: 'Rules',
    certificates: 'Certificates',
    cache: 'Cache',
    uptime: 'Uptime',
    sharing: 'Sharing',
    settings: 'Settings',
    plan: 'Plan',
  },
  groups: { dns: 'DNS', delivery: 'Delivery', manage: 'Manage' },
  notProxied:
    'No record of this domain is proxied, so visitors do not pass our edge, and this page has no effect yet.',
  toRecords: 'Proxy a record',
  navigation: 'Domain pages',
  title: (name: string, status: string) => `${name} · ${status} – Zonefleet`,
};
