import { tmpdir } from 'node:os';
import { findTool, runTool } from './run-tool.ts';
import { withDatabaseApi } from './database-api.ts';
import type { Repeat } from './repeat.ts';

const DEFAULT_EXAMPLES = 50;
/** What schemathesis looks at: no answer of 500, and none that the description does not have. */
const CHECKS = [
  'not_a_server_error',
  'status_code_conformance',
  'content_type_conformance',
  'response_schema_conformance',
];

/**
 * Schemathesis (of PyPI; `SCHEMATHESIS` names the program) makes requests from `/openapi.json` of the database HTTP API and compares the answers
 * with it.
 */
export const openapi: Repeat = {
  unit: 'requests for each operation',
  defaultCount: DEFAULT_EXAMPLES,
  async run({ count = DEFAULT_EXAMPLES, seed = 1, print }): Promise<boolean> {
    const command = findTool('schemathesis', 'SCHEMATHESIS');
    if (command === undefined) {
      print('skipped: no schemathesis in PATH, and SCHEMATHESIS is not set');
      return true;
    }
    return withDatabaseApi(async ({ url, access }) => {
      const credentials = Buffer.from(`${access.user}:${access.password}`).toString('base64');
      const { status, output } = await runTool(
        command,
        [
          'run',
          new URL('/openapi.json', url).href,
          '--header',
          `Authorization: Basic ${credentials}`,
          '--checks',
          CHECKS.join(','),
          '--max-examples',
          String(count),
          '--seed',
          String(seed),
          '--generation-database',
          'none',
          '--no-color',
        ],
        { cwd: tmpdir() },
      );
      for (const line of output.split('\n').slice(status === 0 ? -25 : -200)) print(line);
      return status === 0;
    });
  },
};
