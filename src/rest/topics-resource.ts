import { answer, answerEmpty, pathName, withinTimeLimit, type Resource } from './resource.ts';

/** `/connectors/{connector}/topics`; connectors that there are not have used no topics. */
export const topicsResource: Resource = (router, { herder, topics }) => {
  router.get('/connectors/:connector/topics', (context) => {
    const name = pathName(context, 'connector');
    answer(context, 200, { [name]: { topics: topics.list(name) } });
  });

  router.put('/connectors/:connector/topics/reset', async (context) => {
    await withinTimeLimit(herder.stage, topics.reset(pathName(context, 'connector')));
    answerEmpty(context, 202);
  });
};
