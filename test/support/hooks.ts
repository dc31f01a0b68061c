import { printClosingLineAtExit } from './closing-line.ts';
import { watchSuites } from './leaks.ts';
import { endServices } from './services.ts';
import { printWorkerLogs } from './worker-process.ts';

printClosingLineAtExit();

export const mochaHooks: Mocha.RootHookObject = {
  beforeAll(this: Mocha.Context) {
    const root = this.test?.parent;
    if (root !== undefined) watchSuites(root);
  },
  afterEach(this: Mocha.Context) {
    if (this.currentTest?.state === 'failed') printWorkerLogs(this.currentTest.title);
  },
  async afterAll(this: Mocha.Context) {
    this.timeout(30_000);
    await endServices();
  },
};
