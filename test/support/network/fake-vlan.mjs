// Makes a process see a VLAN interface on top of another one: `--import=fake-vlan.mjs?INTERFACE.VLAN`. Many kernels cannot
// create VLAN interfaces, but tests need only the list of them.

import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

const name = new URL(import.meta.url).search.slice(1);
const [parent, vlan] = name.split('.');
const { readdirSync, readFileSync } = fs;

fs.readdirSync = (path, ...options) => {
  const entries = readdirSync(path, ...options);
  return path === `/sys/class/net/${parent}` ? [...entries, `upper_${name}`] : entries;
};
fs.readFileSync = (path, ...options) =>
  path === `/proc/net/vlan/${name}`
    ? `${name}  VID: ${vlan}\t REORDER_HDR: 1\n`
    : readFileSync(path, ...options);
syncBuiltinESMExports();
