# ruff: noqa: E501 - a dictionary: one concept a paragraph
"""The most usual words of override, leak and concealment in other languages, without accents, for the same frames."""

from typing import Final

# fmt: off
FOREIGN: Final[dict[str, str]] = {
    "dismiss": """hu lve, hulve, hu lue, hulue, wu shi, wushi, wang ji, wangji, pao kai, ignora, ignorad, ignoren, ignorar, ignorare, ignorate, ignorez, ignore, ignoriere, ignorieren, ignoriert, vergiss, vergesst, vergessen, missachte, verwirf, olvida, olvidad, olvidar, olvide, olvidese, descarta, descarte, oublie, oubliez, oublier, dimentica, dimenticate, dimenticare, scarta, esqueca, esquece, esquecer, desconsidere, desconsidera, negeer, vergeet, zignoruj, zapomnij, ignoruj, unut, yoksay,
        игнорируй, игнорируйте, забудь, забудьте, отбрось, проигнорируй, не обращай внимания, تجاهل, انس""",
    "guide": """zhi ling, zhiling, gui ze, guize, ti shi ci, tishici, shezhi, she ding, instrucciones, instruccion, indicaciones, directrices, reglas, normas, anweisungen, anweisung, regeln, vorgaben, richtlinien, instruktionen, anordnungen, consignes, consigne, instructions, directives, regles, istruzioni, istruzione, regole, direttive, linee guida, instrucoes, regras, diretrizes, instructies, regels, instrukcje, polecenia, zasady, talimatlar, talimatlari,
        инструкции, инструкций, инструкциям, команды, запреты, указания, правила, ограничения, التعليمات, تعليمات, القواعد""",
    "prior": """zhi qian, zhiqian, yi qian, yiqian, shang mian, shangmian, suo you, suoyou, anteriores, anterior, previas, previos, precedentes, precedente, bisherigen, bisherige, vorherigen, vorherige, fruheren, obigen, obige, oben, vorigen, zuvor, precedentes, precedente, anterieures, ci dessus, avant, precedenti, prima, vorige, eerdere, bovenstaande, poprzednie, powyzsze, wczesniejsze, onceki,
        предыдущие, предыдущих, прежние, прошлые, вышеуказанные, выше, السابقة, أعلاه""",
    "your_config": """xi tong, xitong, ni de gui ze, nide, prompt del sistema, indicaciones del sistema, mensaje del sistema, tus instrucciones, tus reglas, tu prompt, systemprompt, system anweisungen, deine anweisungen, deine regeln, deinen systemprompt, deinen anweisungen, prompt systeme, invite systeme, message systeme, tes instructions, tes regles, vos instructions, vos regles, prompt di sistema, tue istruzioni, tue regole, prompt do sistema, suas instrucoes, suas regras, systeemprompt, prompt systemowy,
        системный промпт, системный запрос, системные инструкции, твои инструкции, твои правила, موجه النظام""",
    "hidden_text": """prompt del sistema, mensaje del sistema, systemprompt, prompt systeme, invite systeme, message systeme, prompt di sistema, prompt do sistema, systeemprompt, prompt systemowy, системный промпт, موجه النظام, tus instrucciones, deine anweisungen, tes instructions, vos instructions, tue istruzioni, suas instrucoes""",
    "show": "revela, muestra, muestrame, imprime, dime, gib aus, gib, zeige, zeig, nenne, verrate, offenbare, revele, revelez, affiche, affichez, montre, montrez, donne, donnez, mostra, mostrami, rivela, stampa, dimmi, mostre, revele, imprima, toon, geef, pokaz, ujawnij, покажи, выведи, раскрой, напечатай, اكشف, اعرض",
    "priority": "ting wo de, tingwode, an wo shuo de, haz solo lo que, haz lo que yo, sigue mis, folge mir, folge nur, hore auf mich, nur noch mir, tu was ich, fais ce que je, obeis moi, fai quello che, segui solo, faca o que eu, faca apenas, делай что я, слушай только меня, слушайся меня",
    "conceal": "non dirlo, nicht sagen, no se lo digas, no le digas, no digas, no menciones, sag nicht, sage nicht, sag dem nicht, erzahle nicht, verrate nicht, verschweige, ne dis pas, ne dites pas, ne mentionne pas, ne mentionnez pas, non dirlo, non dire, non menzionare, nao conte, nao diga, nao mencione, не говори, не сообщай, не упоминай, لا تخبر",
    "human": "usuario, usuarios, benutzer, nutzer, kunden, utilisateur, utilisateurs, client, utente, utenti, all'utente, cliente, clientes, clienti, gebruiker, uzytkownik, пользователю, пользователь, пользователя, المستخدم",
    "self": "esto, este mensaje, esta nota, dies, diese nachricht, diese notiz, davon, ceci, ce message, cette note, cela, questo, questo messaggio, questa nota, isto, esta mensagem, это, об этом, هذا",
    "free": "bu shou xian zhi, bu shou xianzhi, bushou xianzhi, bushouxianzhi, mei you xian zhi, sin restricciones, sin limites, sin reglas, sin filtros, ohne einschrankungen, ohne regeln, ohne grenzen, ohne filter, uneingeschrankt, sans restriction, sans restrictions, sans limites, sans regles, sans filtre, senza restrizioni, senza limiti, senza regole, senza filtri, sem restricoes, sem limites, sem regras, без ограничений, без правил, بلا قيود",
    "role": "eres ahora, ahora eres, eres, actua como, du bist jetzt, du bist nun, du bist, handle als, spiele, tu es maintenant, tu es, vous etes, agis comme, sei ora, ora sei, sei, agisci come, voce e agora, voce agora e, aja como, ты теперь, теперь ты, ты, أنت الآن",
    "you": "tu, tus, du, dein, deine, deinen, dich, vous, votre, vos, tes, voce, seu, suas, ты, твои",
    "send": "envia, enviar, enviame, manda, sende, schicke, leite weiter, ubermittle, envoie, envoyez, transmets, transfere, invia, inoltra, envie, encaminhe, отправь, отошли, перешли, أرسل",
    "secret": "claves, contrasenas, contrasena, credenciales, schlussel, passworter, passwort, zugangsdaten, cles, mots de passe, identifiants, chiavi, credenziali, chaves, senhas, credenciais, пароли, ключи, كلمات المرور",
    "private": "lista de clientes, datos de clientes, datos del cliente, kundenliste, kundendaten, liste des clients, donnees clients, donnees des clients, lista clienti, elenco dei clienti, elenco clienti, dati dei clienti, dados dos clientes, список клиентов",
    "all": "jedem, jeder, todo, todas, todos, alle, jede, jeden, immer, toutes, tous, chaque, toujours, tutte, tutti, ogni, sempre, todas, всегда, все, كل, جميع",
    "consent": "stimme jedem, genehmige alle, aprueba todo, aprueba todas, approuve tout, approuvez tout, approva tutto, aprove tudo, одобряй все",
}
# fmt: on
