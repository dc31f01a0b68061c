import type { Herder } from '../../herder/herder.ts';
import { PREVIEW } from '../preview/preview-answers.ts';
import { MESSAGE_PAGE } from './message-answers.ts';
import type { MessageReadings } from './message-readings.ts';
import type { MessagePlace, PeekQuery } from './topic-peek.ts';
import { goneSignal } from '../../rest/client-gone.ts';
import { ajv, checkBody, readPlainJson } from '../../rest/request-body.ts';
import { answerText, pathName, withinTimeLimit, type Route } from '../../rest/resource.ts';

const MAX_LIMIT = 200;
const OFFSET = { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER } as const;
const PARTITION = { type: 'integer', minimum: 0, maximum: 2 ** 31 - 1 } as const;
const TOPIC = { type: 'string', minLength: 1, maxLength: 249 } as const;
const PLACE = {
  type: 'object',
  properties: { topic: TOPIC, partition: PARTITION, offset: OFFSET },
  required: ['topic', 'partition', 'offset'],
  additionalProperties: false,
} as const;

const isQuery = ajv.compile<PeekQuery>({
  type: 'object',
  properties: {
    topic: TOPIC,
    partition: PARTITION,
    key: { type: ['string', 'null'], maxLength: 1_000_000 },
    offset: OFFSET,
    time: OFFSET,
    before: { type: 'array', maxItems: 1000, items: PLACE },
    limit: { type: 'integer', minimum: 1, maximum: MAX_LIMIT },
  },
  additionalProperties: false,
});
const isPlace = ajv.compile<MessagePlace>(PLACE);

/**
 * `POST /ui/connectors/{connector}/messages`: the newest messages of a connector's topics, or those that are looked for. It is POST so
 * that keys are in no address, and no other site can ask. `…/messages/preview`: what would become of one of them.
 */
export function messagesResource(herder: Herder, readings: MessageReadings): readonly Route[] {
  return [
    {
      method: 'POST',
      path: '/ui/connectors/:connector/messages',
      answers: { 200: MESSAGE_PAGE },
      handle: async (context) => {
        const query = checkBody(isQuery, await readPlainJson(context.req));
        const page = readings.page(pathName(context, 'connector'), query, goneSignal(context));
        answerText(context, 200, await withinTimeLimit(herder.stage, page));
      },
    },
    {
      method: 'POST',
      path: '/ui/connectors/:connector/messages/preview',
      answers: { 200: PREVIEW },
      handle: async (context) => {
        const place = checkBody(isPlace, await readPlainJson(context.req));
        const preview = readings.preview(pathName(context, 'connector'), place, goneSignal(context));
        answerText(context, 200, await withinTimeLimit(herder.stage, preview));
      },
    },
  ];
}
