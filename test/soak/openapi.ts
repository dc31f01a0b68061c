import { tmpdir } from 'node:os';
import { findTool, runTool } from './run-tool.ts';
import { withDatabaseApi } from './database-api.ts';
import type { Repeat, RepeatOptions } from './repeat.ts';
import { withWorker } from './with-worker.ts';

const DEFAULT_EXAMPLES = 50;
/** Checks of schemathesis: no response has status 500, and every response matches its description. */
const CHECKS = [
  'not_a_server_error',
  'status_code_conformance',
  'content_type_conformance',
  'response_schema_conformance',
];

/**
 * Schemathesis (from PyPI; `SCHEMATHESIS` names the program) generates requests from `/openapi.json` of the database
 * HTTP API and of the management API, and checks the responses against it.
 */
export const openapi: Repeat = {
  unit: 'requests for each operation',
  defaultCount: DEFAULT_EXAMPLES,
  async run(options): Promise<boolean> {
    const command = findTool('schemathesis', 'SCHEMATHESIS');
    if (command === undefined) {
      options.print('skipped: no schemathesis in PATH, and SCHEMATHESIS is not set');
      return true;
    }
    const ofDatabase = await withDatabaseApi(async ({ url, access }) => {
      const credentials = Buffer.from(`${access.user}:${access.password}`).toString('base64');
      return isAsDescribed(command, url.origin, ['--header', `Authorization: Basic ${credentials}`], options);
    });
    let ofWorker = false;
    await withWorker(options.print, async ({ url }) => {
      ofWorker = await isAsDescribed(command, url, [], options);
    });
    return ofDatabase && ofWorker;
  },
};

async function isAsDescribed(
  command: string,
  url: string,
  more: readonly string[],
  { count = DEFAULT_EXAMPLES, seed = 1, print }: RepeatOptions,
): Promise<boolean> {
  const limits = ['--max-examples', String(count), '--seed', String(seed)];
  const quiet = ['--generation-database', 'none', '--no-color'];
  const { status, output } = await runTool(
    command,
    ['run', `${url}/openapi.json`, ...more, '--checks', CHECKS.join(','), ...limits, ...quiet],
    { cwd: tmpdir() },
  );
  for (const line of output.split('\n').slice(status === 0 ? -25 : -200)) print(line);
  return status === 0;
}
