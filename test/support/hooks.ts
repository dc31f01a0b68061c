import type { Server } from 'node:http';
import { printClosingLineAtExit } from './closing-line.ts';
import { fetchImages, inContainers } from './containers.ts';
import { watchSuites } from './leaks.ts';
import { allowSecondTry } from './second-try.ts';
import { isLane, openServiceDoor } from './service-door.ts';
import { broker, databaseServer, endServices } from './services.ts';
import { builtCli } from './worker-build.ts';
import { printWorkers } from './worker-process.ts';

// Mocha passes the settings of .mocharc.cjs and the command line in this form. Other reporters do not record an
// outcome.
const hasOtherReporter = process.argv.some(
  (word) => word.startsWith('--reporter=') && word !== '--reporter=test/support/reporter.ts',
);
if (!isLane() && !hasOtherReporter) printClosingLineAtExit();

let door: Server | undefined;

/** Runs before the lanes of a parallel run are started. */
export async function mochaGlobalSetup(): Promise<void> {
  if (inContainers()) await fetchImages((message) => process.stdout.write(`(${message})\n`));
  door = await openServiceDoor({
    '/build': async () => ({ cli: await builtCli() }),
    '/broker': async () => ({ bootstrapServers: (await broker()).bootstrapServers }),
    '/server': async () => {
      const { host, port, user, password } = await databaseServer();
      return { host, port, user, password };
    },
  });
}

export async function mochaGlobalTeardown(): Promise<void> {
  door?.close();
  await endServices();
}

/** These hooks run once per run; in a lane, once per file. */
export const mochaHooks: Mocha.RootHookObject = {
  beforeAll(this: Mocha.Context) {
    const root = this.test?.parent;
    if (root === undefined) return;
    watchSuites(root);
    allowSecondTry(root);
  },
  async afterEach(this: Mocha.Context) {
    // A test that will be retried has no state.
    const { state, title } = this.currentTest ?? { state: 'passed' as const, title: '' };
    if (state === 'failed' || state === undefined) await printWorkers(title);
  },
  async afterAll(this: Mocha.Context) {
    await endServices();
  },
};
