import type { Herder } from '../../herder/herder.ts';
import type { ConnectorValidation } from '../../herder/validation.ts';
import type { RequestSenders } from '../../rest/request-sender.ts';
import type { ConnectorHistory } from '../history/connector-history.ts';
import { isSameButLimits } from '../../config/rate-limit-options.ts';
import { RequestError } from '../../errors.ts';
import type { KeptConfig } from '../history/history-entry.ts';
import { secretKeys } from '../history/password-keys.ts';
import { requireValid } from '../../rest/connectors-resource.ts';
import { forwardAs } from '../../rest/forwarding.ts';
import { configAt, numberOf, restore } from '../history/history-resource.ts';
import { answer, pathName, queryText, withinTimeLimit, type Route } from '../../rest/resource.ts';
import { hiding } from './completed-config.ts';
import { answerOf } from './config-resource.ts';
import { configMask } from './config-secrets.ts';
import {
  DELETED_CONNECTORS,
  NAMED,
  RESTORE_PREVIEW,
  type DeletedConnectors,
  type RestorePreview,
} from './console-answers.ts';

const MAX_DELETED = 200;

/**
 * The history of connectors for browsers: previewing a restore, restoring without sending secrets to the browser, and
 * listing deleted connectors.
 */
export function changesResource(
  herder: Herder,
  history: ConnectorHistory,
  validation: ConnectorValidation,
  senders: RequestSenders,
): readonly Route[] {
  return [
    {
      method: 'GET',
      path: '/ui/connectors/:connector/changes/:n',
      answers: { 200: RESTORE_PREVIEW },
      handle: async (context) => {
        const found = history.toToday(pathName(context, 'connector'), numberOf(context));
        const { today, then, difference, newest } = await withinTimeLimit(herder.stage, found);
        const restarts = today !== undefined && !isSameButLimits(withoutNulls(today), withoutNulls(then));
        const preview: RestorePreview = { difference, newest, exists: today !== undefined, restarts };
        answer(context, 200, preview);
      },
    },
    // The query parameter `newest` is the number of the newest change at the time when the user looked at the
    // difference. If the connector has been changed since then, the answer is 409.
    {
      method: 'POST',
      path: '/ui/connectors/:connector/changes/:n/restore',
      answers: { 200: NAMED, 201: NAMED },
      handle: async (context) => {
        const name = pathName(context, 'connector');
        const n = numberOf(context);
        await withinTimeLimit(herder.stage, herder.catchUp());
        const { then, newest } = await withinTimeLimit(herder.stage, history.toToday(name, n));
        if (String(newest) !== queryText(context, 'newest'))
          throw new RequestError(409, `Connector ${name} was changed in the meantime: check the difference again`);
        const mask = configMask(then, await secretKeys(then, validation.plugins));
        forwardAs(context, {
          path: `/connectors/${encodeURIComponent(name)}/history/${String(n)}/restore`,
          body: Buffer.alloc(0),
          answered: (theirs) => {
            answerOf(context, theirs, mask, { name });
          },
        });
        const created = await hiding(mask, async () => {
          const { config, state } = await configAt(herder, history, name, n);
          const valid = await requireValid(validation, config);
          return (await restore(herder, { name, n, valid, state }, await senders.of(context))).created;
        });
        answer(context, created ? 201 : 200, { name });
      },
    },
    {
      method: 'GET',
      path: '/ui/deleted-connectors',
      answers: { 200: DELETED_CONNECTORS },
      handle: async (context) => {
        const deleted = await withinTimeLimit(herder.stage, history.deleted());
        const connectors = deleted
          .slice(0, MAX_DELETED)
          .map(({ connector, atMs, restores = null }) => ({ name: connector, at: atMs, restores }));
        const found: DeletedConnectors = { connectors, total: deleted.length };
        answer(context, 200, found);
      },
    },
  ];
}

function withoutNulls(config: KeptConfig): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(config).flatMap(([key, value]) => (value === null ? [] : [[key, value] as const])),
  );
}
