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
  navigation: 'Domain pages',
  title: (name: string, status: string) => `${name} · ${status} – Zonefleet`,
};
