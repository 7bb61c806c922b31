// SPDX-License-Identifier: ISC
// The work that all servers do: a graph of one node, which echoes the last message.
import { AIMessage } from '@langchain/core/messages';
import { MessagesAnnotation, StateGraph } from '@langchain/langgraph';

const echo = ({ messages }) => ({ messages: [new AIMessage(`echo: ${messages.at(-1).text}`)] });

export const builder = new StateGraph(MessagesAnnotation)
	.addNode('agent', echo)
	.addEdge('__start__', 'agent')
	.addEdge('agent', '__end__');
export const graph = builder.compile();
