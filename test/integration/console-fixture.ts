import { sinkConfig } from '../support/connectors.ts';
import { consolePage, type ConsolePage } from '../../plugins/console/test/support/console-page.ts';
import { assertDescribed } from '../support/open-api-check.ts';
import { uniqueName } from '../support/services.ts';
import { workerServices } from '../support/worker-services.ts';

type Locator = ReturnType<ConsolePage['page']['locator']>;

/** The console of a worker, with the rows of its table of connectors. It registers hooks, so it must be called within a `describe`. */
export function fleetConsole() {
  const shown = consolePage(assertDescribed);
  const on = workerServices('console', { properties: { 'offset.flush.interval.ms': '200' } });
  const rowOf = (name: string): Locator => shown.page.locator('table.fleet tbody tr', { hasText: name });

  return {
    shown,
    on,
    rowOf,
    badgeOf: (name: string, verdict: string): Locator => rowOf(name).locator('.badge', { hasText: verdict }),
    /** Creates a sink of line_lp with a topic and a table of its name; resolves once it runs. */
    create: async (): Promise<string> => {
      const name = uniqueName('console');
      await on.sql.run(`create table "${name}" (ts timestamptz not null, v int8)`);
      await on.kafka.createTopic(name, 1);
      await on.worker.rest.create(name, sinkConfig(on.db, { topics: name, 'protocol.type': 'line_lp' }));
      await on.worker.rest.untilState(name, 'RUNNING', 1);
      return name;
    },
  };
}
