import type { Herder } from '../../herder/herder.ts';
import { PREVIEW } from '../preview/preview-answers.ts';
import { MESSAGE_PAGE } from './message-answers.ts';
import type { MessageReadings } from './message-readings.ts';
import { goneSignal } from '../../rest/client-gone.ts';
import { arrayOf, integerBetween, limited, nullable, objectOf, TEXT, withKeywords } from '../../json/open-api.ts';
import { validatorOf } from '../../json/validator.ts';
import { checkBody, readPlainJson } from '../../rest/request-body.ts';
import { answerText, pathName, withinTimeLimit, type Route } from '../../rest/resource.ts';

const MAX_LIMIT = 200;
const OFFSET = integerBetween(0, Number.MAX_SAFE_INTEGER);
const PARTITION = integerBetween(0, 2 ** 31 - 1);
const TOPIC = withKeywords(TEXT, { minLength: 1, maxLength: 249 });
const PLACE = objectOf({ topic: TOPIC, partition: PARTITION, offset: OFFSET });

const isQuery = validatorOf(
  objectOf({
    'topic?': TOPIC,
    'partition?': PARTITION,
    'key?': withKeywords(nullable(TEXT), { maxLength: 1_000_000 }),
    'text?': withKeywords(TEXT, { minLength: 1, maxLength: 1000 }),
    'fromOffset?': OFFSET,
    'offset?': OFFSET,
    'fromTime?': OFFSET,
    'time?': OFFSET,
    'before?': limited(arrayOf(PLACE), 1000),
    'after?': limited(arrayOf(PLACE), 1000),
    'limit?': integerBetween(1, MAX_LIMIT),
  }),
);
const isPlace = validatorOf(PLACE);

/**
 * `POST /ui/connectors/{connector}/messages`: the newest messages of a connector's topics, or the results of a search.
 * The method is POST, so that keys do not appear in URLs, and no other site can send the request. `…/messages/preview`:
 * a preview of one message.
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
