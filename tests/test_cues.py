"""What agents and tools say in Portuguese, French and Russian: the words of the table, each by what it is read for."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from foldline._facts.chitchat import said_in_passing
from foldline._facts.cues import (
    agrees,
    announces,
    approves,
    asks_whether,
    blames,
    changes_in,
    concludes,
    decides,
    names_failure,
    offers,
    only_looks_on,
    passes_judgement,
    points_back,
    refuses,
    rejects,
    resumes,
    says_all_is_well,
    says_back,
    says_foreign,
    says_found,
    says_open,
    says_traced,
    says_when_done,
    submits,
    tells_of_its_moment,
    thinks_aloud,
    waits,
)

SAID: list[tuple[Callable[[str], object], str, str]] = [
    (decides, "isso, mas deixa o menu como está", "isso aqui é o menu antigo"),
    (decides, "Não, faz com o segundo.", "não funciona no Safari"),
    (decides, "vai de modal", "vai chover na quinta"),
    (decides, "sim, e manda pra Bia também", "simplifica a tabela"),
    (approves, "aprovado", "o pedido foi aprovado ontem pelo banco"),
    (approves, "o plano está aprovado.", "o plano está pronto"),
    (refuses, "a opção 2 não serve", "a opção 2 serve"),
    (resumes, "ok, pode continuar", "o erro vai continuar na tela"),
    (says_found, "Descobri que o índice falta na tabela nova.", "Vou ler a tabela nova."),
    (says_found, "O teste do carrinho passou.", "Agora leio o teste do carrinho."),
    (says_when_done, "Antes de fazer commit, rode os testes.", "O commit de ontem tem os testes."),
    (says_when_done, "Quando terminar, me avise.", "Quando o botão some, recarregue a página."),
    (submits, "Entregue a solução em um único arquivo.", "A entrega da solução foi ontem."),
    (thinks_aloud, "Talvez seja o fuso do servidor.", "O fuso do servidor está em UTC."),
    (says_all_is_well, "O build terminou sem erros.", "O build terminou com dois erros."),
    (says_foreign, "Esses dois testes já falhavam antes da minha mudança.", "Esses dois testes falham por causa do índice."),
    (tells_of_its_moment, "A correção está em andamento.", "A correção trocou a fila."),
    (rejects, "A suspeita foi descartada.", "A suspeita vem do log."),
    (passes_judgement, "Veredito: pode entrar.", "O veredito sai na sexta."),
    (concludes, "Conclusão: a fila está cheia.", "A conclusão do curso é em maio."),
    (says_traced, "Agora encontrei a causa do atraso.", "A causa do atraso é conhecida."),
    (blames, "O problema é o fuso do servidor.", "O servidor tem um fuso."),
    (says_back, "Eu estava errado sobre o índice.", "O índice está certo."),
    (only_looks_on, "Revisa o módulo sem alterar nenhum arquivo.", "Altera o arquivo do módulo."),
    (offers, "Se quiser, posso também traduzir a tabela.", "A tabela foi traduzida."),
    (asks_whether, "Devo apagar a tabela antiga ou deixamos?", "Qual é a tabela antiga?"),
    (points_back, "Nunca mexa nisso.", "Nunca mexa na tabela."),
    (says_open, "Pendente: a carta do segundo motorista.", "A carta chegou ao segundo motorista."),
    (agrees, "可以，改吧", "可以帮我看看吗"),
    (agrees, "ya, lanjut", "ya lo hice"),
    (says_open, "Left: the letter of the second driver.", "Left column rows: 84px, 24px between them."),
    (says_open, "Open points: the second driver.", "Open in browser: the list of drivers on port 8000."),
    (says_open, "O aviso à vizinha eu ainda não mandei.", "O aviso à vizinha foi mandado."),
    (says_open, "A lista de convidados continua pendente.", "A lista de convidados está pronta."),
    (changes_in, "O arquivo src/mapa.py foi alterado.", "O arquivo src/mapa.py é grande."),
    (names_failure, "O erro vem da fila.", "A fila está vazia."),
    (approves, "План одобрен.", "а план одобрен?"),
    (decides, "да, только поменьше", "Нет доступа к серверу"),
    (refuses, "не вариант 2", "давай вариант 2"),
    (says_found, "Причина в кеше, он протух.", "Сейчас посмотрю файл."),
    (says_when_done, "Когда закончишь, обнови README.", "Обнови README."),
    (submits, "Сдай готовую работу до конца.", "Работа сдана вчера."),
    (concludes, "Вывод: кеш протух.", "Вывод печатается дважды."),
    (passes_judgement, "Вердикт: годится.", "Годится."),
    (announces, "Сейчас посмотрю логи.", "Я исправил баг."),
    (offers, "Если хотите, добавлю тест.", "Добавил тест."),
    (only_looks_on, "Посмотри, но код не трогай.", "Поправь код."),
    (says_open, "Ещё не проверял на винде.", "Всё готово."),
    (says_all_is_well, "Сборка прошла без ошибок.", "В сборке две ошибки."),
    (waits, "Сборка ещё идёт.", "Сборка прошла."),
    (tells_of_its_moment, "Исправление ещё не проверено.", "Исправление проверено."),
    (resumes, "ок, продолжай", "продолжай печатать номер строки в каждом сообщении"),
]  # fmt: skip

IN_FRENCH: list[tuple[Callable[[str], object], str, str]] = [
    (decides, "oui mais garde le menu tel quel", "ouvre le menu"),
    (decides, "Non, fais plutôt le deuxième.", "nous avons deux menus"),
    (decides, "va pour la modale", "la modale va bien"),
    (decides, "on part sur la deuxième", "on voit la deuxième page"),
    (approves, "approuvé", "la commande a été approuvée hier par la banque"),
    (approves, "le plan est validé.", "le plan est prêt"),
    (refuses, "l'option 2 ne va pas", "l'option 2 convient"),
    (resumes, "ok tu peux continuer", "l'erreur va continuer sur cet écran"),
    (says_found, "J'ai découvert que l'index manque dans la nouvelle table.", "Je lis la nouvelle table."),
    (says_found, "Le test du panier a échoué.", "Le test du panier est long."),
    (says_when_done, "Avant de faire un commit, lance les tests.", "Le commit d'hier a les tests."),
    (says_when_done, "Quand tu as fini, préviens-moi.", "Quand le bouton disparaît, recharge la page."),
    (submits, "Rends ta solution dans un seul fichier.", "La remise de la solution était hier."),
    (thinks_aloud, "Peut-être le fuseau du serveur.", "Le fuseau du serveur est en UTC."),
    (says_all_is_well, "La build s'est terminée sans erreur.", "La build s'est terminée avec deux erreurs."),
    (says_foreign, "Ces deux tests échouaient déjà avant ma modification.", "Ces deux tests échouent à cause de l'index."),
    (tells_of_its_moment, "La correction est en cours.", "La correction remplace la file."),
    (rejects, "L'hypothèse est écartée.", "L'hypothèse vient du journal."),
    (passes_judgement, "Verdict : ça peut entrer.", "Le verdict tombe vendredi."),
    (concludes, "Conclusion : la file est pleine.", "La conclusion du cours est en mai."),
    (says_traced, "Maintenant je vois la cause du retard.", "La cause du retard est connue."),
    (blames, "Le problème vient du fuseau du serveur.", "Le serveur a un fuseau."),
    (says_back, "J'avais tort pour l'index.", "L'index est bon."),
    (only_looks_on, "Relis le module sans rien modifier.", "Modifie le fichier du module."),
    (only_looks_on, "Ne modifie aucun fichier.", "Ne modifie pas le titre."),
    (offers, "Si tu veux, je peux aussi traduire la table.", "La table est traduite."),
    (asks_whether, "Dois-je supprimer l'ancienne table ?", "Quelle est l'ancienne table ?"),
    (points_back, "N'y touche jamais, sauf si je le dis.", "Ne touche jamais à la table."),
    (says_open, "Reste à faire : la lettre du second chauffeur.", "La lettre est arrivée chez le second chauffeur."),
    (says_open, "Le mot à la voisine n'est pas encore parti.", "Le mot à la voisine est parti."),
    (says_open, "La liste des invités est toujours en attente.", "La liste des invités est prête."),
    (changes_in, "Le fichier src/carte.py a été mis à jour.", "Le fichier src/carte.py est grand."),
    (names_failure, "L'erreur vient de la file.", "La file est vide."),
]  # fmt: skip


@pytest.mark.parametrize(("said", "sentence", "other"), [*SAID, *IN_FRENCH])
def test_what_a_sentence_says(said: Callable[[str], object], sentence: str, other: str) -> None:
    assert said(sentence)
    assert not said(other)


def test_files_that_were_changed_are_told_by_their_verbs_and_not_those_that_were_left() -> None:
    said = "Изменил a.py и добавил b.py, c.py удалён, d.py не изменён."
    assert [verb for _, verb in changes_in(said)] == ["modified", "created", "deleted"]


@pytest.mark.parametrize(
    ("words", "passing"), [("ага, спасибо", True), ("ок, давай дальше", True), ("да, но в main", False)]
)
def test_what_a_russian_user_says_in_passing(words: str, passing: bool) -> None:
    assert said_in_passing(words) == passing
