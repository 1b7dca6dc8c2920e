// English texts of the zone templates.

import { plural } from './figures.ts';

export const templates = {
  title: 'Use a template',
  text: 'A template adds the usual records for a purpose, and replaces the addresses and aliases at the names that it uses. You see the changes before they are added.',
  choose: 'Template',
  names: {
    website: 'Website at an address',
    host: 'Website at a host name',
    github: 'GitHub Pages',
    netlify: 'Netlify',
    vercel: 'Vercel',
    shopify: 'Shopify',
    parked: 'Parked domain without mail',
  },
  hints: {
    website: 'The domain and www lead to the address of your server.',
    host: 'The domain and www lead to a name that your hosting provider gave you.',
    github: 'The domain and www lead to your site at GitHub.',
    netlify: 'The domain and www lead to your site at Netlify.',
    vercel: 'The domain and www lead to your project at Vercel.',
    shopify: 'The domain and www lead to your shop.',
    parked: 'Other servers reject mail from the domain, and no authority may issue certificates for it.',
  },
  email: 'For mail, use the email setup.',
  emailLink: 'Set up email',
  fields: {
    address: 'IPv4 address',
    address6: 'IPv6 address (optional)',
    host: 'Host name',
    user: 'User or organization at GitHub',
    site: 'Name of the site at Netlify',
  },
  fieldHints: {
    address: 'Example: 192.0.2.10',
    address6: 'Example: 2001:db8::10',
    host: 'Example: shop.example.net',
    user: 'Without .github.io',
    site: 'Without .netlify.app',
  },
  problems: {
    needed: 'Enter this value.',
    wrong: 'This value does not fit the record.',
  },
  changes: 'Changes',
  nothing: 'All these records already exist. Nothing would change.',
  add: (count: number) =>
    count === 0 ? 'Add to the records' : `Add ${plural(count, 'change', 'changes')} to the records`,
  added: (count: number) => `${plural(count, 'change was', 'changes were')} added. Review and save them.`,
};
