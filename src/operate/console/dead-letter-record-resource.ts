import type { Herder } from '../../herder/herder.ts';
import { WHOLE_DEAD_LETTER } from '../dead-letters/dead-letter-answers.ts';
import type { DeadLetterReadings } from '../dead-letters/dead-letter-readings.ts';
import { goneSignal } from '../../rest/client-gone.ts';
import { RequestError } from '../../errors.ts';
import { answerText, pathName, withinTimeLimit, type Context, type Route } from '../../rest/resource.ts';

/** One dead-letter record in full, for browsers. */
export function deadLetterRecordResource(herder: Herder, readings: DeadLetterReadings): readonly Route[] {
  return [
    {
      method: 'GET',
      path: '/ui/connectors/:connector/dead-letters/:partition/:offset',
      answers: { 200: WHOLE_DEAD_LETTER },
      handle: async (context) => {
        const [partition, offset] = [numberOf(context, 'partition'), numberOf(context, 'offset')];
        const record = readings.record(pathName(context, 'connector'), partition, offset, goneSignal(context));
        const text = await withinTimeLimit(herder.stage, record);
        answerText(context, 200, text);
      },
    },
  ];
}

function numberOf(context: Context, name: string): number {
  const text = pathName(context, name);
  const number = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(number)) throw new RequestError(404, `The ${name} must be a number`);
  return number;
}
