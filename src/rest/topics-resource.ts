import type { ConnectorTopics } from '../herder/connector-topics.ts';
import type { Herder } from '../herder/herder.ts';
import { ACTIVE_TOPICS } from './answers.ts';
import { answer, answerEmpty, pathName, withinTimeLimit, type Route } from './resource.ts';

/** `/connectors/{connector}/topics`; unknown connectors have used no topics. */
export function topicsResource(herder: Herder, topics: ConnectorTopics): readonly Route[] {
  return [
    {
      method: 'GET',
      path: '/connectors/:connector/topics',
      summary: 'The topics that a connector has used',
      tag: 'connectors',
      answers: { 200: ACTIVE_TOPICS },
      handle: (context) => {
        const name = pathName(context, 'connector');
        answer(context, 200, { [name]: { topics: topics.list(name) } });
      },
    },
    {
      method: 'PUT',
      path: '/connectors/:connector/topics/reset',
      summary: 'Forget the topics that a connector has used',
      tag: 'connectors',
      answers: { 202: null },
      handle: async (context) => {
        await withinTimeLimit(herder.stage, topics.reset(pathName(context, 'connector')));
        answerEmpty(context, 202);
      },
    },
  ];
}
