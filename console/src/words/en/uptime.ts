// English texts of uptime checks.

import { plural } from './figures.ts';

export const uptime = {
  none: 'Nothing is monitored yet',
  noneText:
    'Turn on “Monitor uptime” for a proxied record. This page then shows when its server was down, based on real requests.',
  toRecords: 'Go to the records',
  up: 'Your servers are up',
  down: 'Your servers are down',
  downText: 'Most visitors currently see an error. Check the server behind your proxied records.',
  well: 'up',
  goesOn: 'ongoing',
  percent: (percent: number) => `${percent.toLocaleString('en-GB', { maximumFractionDigits: 3 })} %`,
  of: (period: string) => `of ${period} without an incident`,
  judgedUntil: 'Evaluated until',
  how: 'A minute counts as down if too many of its requests fail. You can change the limit in the settings.',
  incidents: 'Incidents',
  noIncidents: 'There were no incidents in this period.',
  strip: (incidents: number) => `Timeline with ${plural(incidents, 'incident', 'incidents')}`,
  columns: { from: 'Start', to: 'End', lasted: 'Duration', failed: 'Failed requests' },
};
