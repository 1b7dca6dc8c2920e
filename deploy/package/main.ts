// `npm run package [npm|deb|oci…]`: builds the packages of this version in dist/, with their SBOM, licences and checksums. The same
// commit gives the same files.

import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Argument, Command } from 'commander';
import { buildImage } from '../oci/build-image.ts';
import { describeBuild } from './build.ts';
import { buildDeb, nodeFolder } from './build-deb.ts';
import { buildDeployFiles } from './build-deploy-files.ts';
import { buildNpm } from './build-npm.ts';
import { buildProgram } from './build-program.ts';
import { licencesOf } from './licences.ts';
import { signSums, writeSums } from './sign.ts';
import { writeSbom } from './write-sbom.ts';

const KINDS = ['npm', 'deb', 'oci', 'deploy'];
const ROOT = fileURLToPath(new URL('../..', import.meta.url));

interface Flags {
  readonly output: string;
  readonly sign?: string;
}

const program = new Command('npm run package --')
  .description('Builds the packages of this version. SOURCE_DATE_EPOCH replaces the time of the commit.')
  .addArgument(new Argument('[KIND...]', 'default: all').choices(KINDS))
  .option('--output <folder>', 'folder of the packages', join(ROOT, 'dist'))
  .option('--sign <key>', 'sign SHA256SUMS with this secret key of minisign')
  .action(run);

async function run(kinds: readonly string[], flags: Flags): Promise<void> {
  if (flags.sign !== undefined && !existsSync(flags.sign))
    program.error(`--sign: ${flags.sign} does not exist`);
  process.umask(0o022); // modes of new files are part of packages
  const wanted = new Set(kinds.length === 0 ? KINDS : kinds);
  const output = resolve(flags.output);
  const build = describeBuild(ROOT, process.env.SOURCE_DATE_EPOCH);
  const work = join(output, 'work');
  mkdirSync(output, { recursive: true });
  const files: string[] = [];
  const add = (file: string) => {
    files.push(file);
    console.log(relative('', file));
  };
  try {
    const built = join(work, 'program');
    await buildProgram(ROOT, built, build);
    if (wanted.has('npm')) add(buildNpm({ root: ROOT, program: built, work: join(work, 'npm'), output }));
    if (wanted.has('deb') || wanted.has('oci')) {
      const deb = await buildDeb({ root: ROOT, program: built, build, work: join(work, 'deb'), output });
      add(deb);
      if (wanted.has('oci')) {
        const image = join(output, `zonefleet-${build.version}-oci.tar`);
        buildImage({ ...build, deb, output: image });
        add(image);
      }
    }
    if (wanted.has('deploy')) add(buildDeployFiles({ root: ROOT, build, output }));
    add(writeSbom(ROOT, { program: built, build, output }));
    const licences = join(output, `zonefleet-${build.version}-licences.txt`);
    writeFileSync(licences, licencesOf(ROOT, { node: nodeFolder(ROOT) }));
    add(licences);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
  const sums = writeSums(output, files);
  console.log(relative('', sums));
  if (flags.sign !== undefined)
    console.log(relative('', signSums(sums, { key: resolve(flags.sign), version: build.version })));
}

await program.parseAsync();
